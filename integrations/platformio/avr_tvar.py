"""Verifying firmware with avr-tvar from PlatformIO.

In platformio.ini:

    extra_scripts = post:avr_tvar.py
    custom_avr_tvar_properties = firmware.ron
    custom_avr_tvar_flags = --timeout 60s

Then `pio run -t verify` builds the firmware and fails when a property is violated or unknown.
"""

Import("env")  # noqa: F821  (PlatformIO defines it)

properties = env.GetProjectOption("custom_avr_tvar_properties", "")  # noqa: F821
flags = env.GetProjectOption("custom_avr_tvar_flags", "--timeout 60s")  # noqa: F821
firmware = "$BUILD_DIR/${PROGNAME}.elf"

env.AddCustomTarget(  # noqa: F821
    name="verify",
    dependencies=firmware,
    actions=f'avr-tvar verify "{firmware}"' + (f' "{properties}"' if properties else "") + f" {flags}",
    title="Verify",
    description="Verify the properties of the firmware with avr-tvar",
)
