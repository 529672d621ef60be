*** Comments ***
What the keywords do in Renode alone: nothing is left to chance, faults and runs without an end come
back, and peripherals stand beside the network. Run like boards.robot.

*** Settings ***
Library             mcu_deploy.robot
Suite Setup         Build Once

*** Variables ***
${MODEL}            ${CURDIR}/../../examples/cmake/sine.tflite

*** Test Cases ***
Instructions Are The Same In Each Run
    Load Model
    ${first}=    Instructions Should Be At Most    2600
    Run Keyword And Expect Error
    ...    one inference of sine on stm32f407 takes * instructions, at most 1,000 were allowed: * too many
    ...    Instructions Should Be At Most    1000
    Run Keyword And Expect Error    Renode has a machine for stm32f407 already: *    Load Model
    Reset Emulation
    Load Model
    ${second}=    Instructions Should Be At Most    2600
    Should Be Equal    ${first}    ${second}
    Infer    [-64]
    Output Should Match    [126]

Virtual Time Is The Same In Each Run
    Load Model
    Infer    random    samples=3
    ${first}=    Execute Command    emulation GetTimeSourceInfo
    Reset Emulation
    Load Model
    Infer    random    samples=3
    ${second}=    Execute Command    emulation GetTimeSourceInfo
    ${first}=    Get Lines Containing String    ${first}    Elapsed Virtual Time
    ${second}=    Get Lines Containing String    ${second}    Elapsed Virtual Time
    Should Contain    ${first}    Elapsed Virtual Time
    Should Be Equal    ${first}    ${second}

A Fault Is Told Once
    Load Model
    Fault Should Be    none
    Run Keyword And Expect Error    The device has not faulted; 'bus fault' was expected.
    ...    Fault Should Be    bus fault
    Provoke Fault    undefined instruction    layer=1
    Infer    [0]
    Run Keyword And Expect Error    *undefined instruction in layer 1*FullyConnected*
    ...    Output Should Match    oracle
    Run Keyword And Expect Error    *undefined instruction in layer 1*    Infer    [0]
    Run Keyword And Expect Error    'bus fault' was expected, and it is: usage fault, undefined instruction*
    ...    Fault Should Be    bus fault
    Run Keyword And Expect Error    It was expected in layer 0.*
    ...    Fault Should Be    usage fault    layer=0
    Fault Should Be    usage fault    layer=1
    Fault Should Be    none

A Run Without An End Is Stopped
    Load Model    run_timeout=0.2
    Provoke Fault    endless    layer=0
    Infer    [0]
    Fault Should Be    stopped    layer=0

What Renode Lets Pass Is Not Provoked
    Load Model
    FOR    ${fault}    IN    bad read    bad write    bad jump    unaligned    divide by zero
        Run Keyword And Expect Error    Renode does not raise '${fault}' on stm32f407: *emulators.md*
        ...    Provoke Fault    ${fault}    layer=0
    END
    Infer    [-64]
    Output Should Match    [126]
    Fault Should Be    none

A Model Runs Beside Peripherals Of The User's
    Load Model
    Execute Command    machine LoadPlatformDescriptionFromString "adxl345: Sensors.ADXL345 @ i2c1 0x53"
    Execute Command    sysbus.i2c1.adxl345 FeedSample 1 2 3
    Start Emulation
    Infer    [-64]
    Output Should Match    [126]
    ${running}=    Execute Command    emulation IsStarted
    Should Contain    ${running}    True

*** Keywords ***
Build Once
    Setup
    Build Model    ${MODEL}    stm32f407    name=sine    optimize_for=size
