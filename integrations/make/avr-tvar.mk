# Verifying firmware with avr-tvar from GNU Make.
#
#   include avr-tvar.mk
#
# gives every firmware.elf the target firmware.verified, which is made by verifying the properties in firmware.ron, and again
# when either changes. A property that is violated or unknown is an error, and firmware.verified is then not there.

AVR_TVAR ?= avr-tvar
AVR_TVAR_FLAGS ?= --timeout 60s

%.verified: %.elf %.ron
	$(AVR_TVAR) verify $*.elf $*.ron $(AVR_TVAR_FLAGS) > $@.new || { cat $@.new; rm -f $@ $@.new; exit 1; }
	mv $@.new $@
