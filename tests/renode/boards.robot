*** Comments ***
Every board that Renode has: a network is built for it, loaded, run and compared, its instructions
are counted, and a fault comes back. With mcu-deploy and Robot Framework in the environment:

    renode-test -r results tests/renode/boards.robot

With `--include core` it is one board of each core; with `--include sample` that whose core no other
emulator has.

*** Settings ***
Library             mcu_deploy.robot
Test Template       A Network Should Run And Fault On

*** Variables ***
${MODEL}            ${CURDIR}/../../examples/cmake/sine.tflite

*** Test Cases ***
# Armv6-M does not say what a fault's cause is. The limits leave a tenth for other compilers.
#                   board               fault                       instructions
EK RA8M1            ek_ra8m1            undefined instruction       2400
    [Tags]          helium
EK RA8M1 scalar     ek_ra8m1_scalar     undefined instruction       2400
    [Tags]          core    sample
MIMXRT1064 EVK      mimxrt1064_evk      undefined instruction       1400
    [Tags]          core
Netduino Plus 2     netduinoplus2       undefined instruction       1400
    [Tags]          core
nRF52840 DK         nrf52840dk          undefined instruction       1400
Nucleo F446RE       nucleo_f446re       undefined instruction       1400
Nucleo F746ZG       nucleo_f746zg       undefined instruction       1400
Nucleo G0B1RE       nucleo_g0b1re       unknown                     5000
    [Tags]          core
Nucleo H753ZI       nucleo_h753zi       undefined instruction       1400
Nucleo L552ZE       nucleo_l552ze       undefined instruction       1400
    [Tags]          core
SAM E70 Xplained    sam_e70_xplained    undefined instruction       1400
STM32F103           stm32f103           undefined instruction       2600
    [Tags]          core
STM32F407           stm32f407           undefined instruction       1400
STM32F746           stm32f746           undefined instruction       1400

*** Keywords ***
A Network Should Run And Fault On
    [Arguments]    ${board}    ${fault}    ${instructions}
    Build Model    ${MODEL}    ${board}    name=sine
    Load Model
    Infer    random    samples=3
    Output Should Match    oracle
    ${count}=    Instructions Should Be At Most    ${instructions}
    Instructions Should Be At Most    ${count}
    Run Keyword And Expect Error    *: 1 too many
    ...    Instructions Should Be At Most    ${count - 1}
    Provoke Fault    undefined instruction    layer=dense_2
    Infer    random    samples=1
    Fault Should Be    ${fault}    layer=dense_2
    Infer    random    samples=1
    Output Should Match    oracle
    Fault Should Be    none
