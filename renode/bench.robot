*** Comments ***
An example of a test in Renode's own framework: a bench.elf runs to its end on an STM32F746.

    mcu-deploy build model.onnx --board stm32f746 --name N -o build
    renode-test --variable ELF:$PWD/build/bench.elf renode/bench.robot

*** Variables ***
${ELF}                              ${CURDIR}/../build/bench.elf

*** Test Cases ***
Should Run The Network To Its End
    Execute Command                 $elf=@${ELF}
    Execute Command                 $port=0
    Execute Command                 include @${CURDIR}/stm32f746.resc
    Create Log Tester               10
    Execute Command                 cpu AddHook `sysbus GetSymbolAddress "mcu_bench_done"` "self.InfoLog('the network is done')"
    Execute Command                 cpu AddHook `sysbus GetSymbolAddress "mcu_fault_entry"` "self.InfoLog('the network faulted')"
    Start Emulation
    Wait For Log Entry              the network is done
    Should Not Be In Log            the network faulted    timeout=0
