*** Comments ***
What the sensor measures goes through the network, in the firmware of this folder:

    renode-test --variable FIRMWARE:$PWD/build/sensor/firmware.elf examples/renode_sensor/sensor.robot

*** Settings ***
Library         mcu_deploy.robot
Test Setup      Start The Board

*** Variables ***
${FIRMWARE}     ${CURDIR}/../../build/sensor/firmware.elf
${SENSOR}       sysbus.i2c1.adxl345

*** Test Cases ***
The Network Gets What The Sensor Measures
    Connect The Sensor
    # The model of the sensor drops the lower two bits: 1024 is 1 g.
    Execute Command    ${SENSOR} FeedSample 1024 0 0
    Start Emulation
    Wait For Line On Uart    ready
    Wait For Line On Uart    x 64 y -126
    Execute Command    ${SENSOR} FeedSample -1024 0 0
    Wait For Line On Uart    x -64 y 126

A File Of Samples Is Measured One After The Other
    Connect The Sensor
    Execute Command    ${SENSOR} FeedSample @${CURDIR}/samples.txt
    Start Emulation
    # A line that has been found is behind: they come in this order.
    FOR    ${line}    IN    x 0 y 4    x 64 y -126    x -64 y 126    x -128 y 4    x 32 y -74
        Wait For Line On Uart    ${line}
    END

A Sensor That Is Not There Is Told
    Start Emulation
    Wait For Line On Uart    no sensor

*** Keywords ***
Start The Board
    Reset Emulation
    Load Firmware    ${FIRMWARE}    stm32f746
    Create Terminal Tester    sysbus.usart1    timeout=5

Connect The Sensor
    Execute Command    machine LoadPlatformDescription @${CURDIR}/sensor.repl
