# Verifying firmware with avr-tvar from CMake.
#
#   include(AvrTvar)
#   avr_tvar_verify(firmware PROPERTIES firmware.ron TIMEOUT 60s)
#
# adds the target `verify-firmware`, which builds `firmware` and fails when a property of it is violated or unknown, and a test
# of the same name for CTest. TEST_ONLY leaves out the target. Everything behind OPTIONS goes to `avr-tvar verify` as it is.

find_program(AVR_TVAR avr-tvar REQUIRED)

function(avr_tvar_verify target)
    cmake_parse_arguments(arg "TEST_ONLY" "PROPERTIES;TIMEOUT;MEMORY;DEVICE" "OPTIONS" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "avr_tvar_verify: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(command ${AVR_TVAR} verify $<TARGET_FILE:${target}>)
    if(arg_PROPERTIES)
        get_filename_component(properties ${arg_PROPERTIES} ABSOLUTE)
        list(APPEND command ${properties})
    endif()
    foreach(limit TIMEOUT MEMORY DEVICE)
        if(arg_${limit})
            string(TOLOWER ${limit} option)
            list(APPEND command --${option} ${arg_${limit}})
        endif()
    endforeach()
    list(APPEND command ${arg_OPTIONS})
    if(NOT arg_TEST_ONLY)
        add_custom_target(verify-${target} COMMAND ${command} DEPENDS ${target} ${properties} VERBATIM USES_TERMINAL)
    endif()
    add_test(NAME verify-${target} COMMAND ${command})
endfunction()
