*** Comments ***
A processor in Renode jumps to where there is no memory, and Renode never comes back: the keyword ends
all the same, and so does the suite. The test fails behind that, as Renode is gone.

*** Settings ***
Library             mcu_deploy.robot
Suite Setup         Build Once

*** Variables ***
${MODEL}            ${CURDIR}/../../examples/cmake/sine.tflite

*** Test Cases ***
A Renode That Hangs Is Ended
    Load Model    real_timeout=10
    Infer    [0]
    Execute Command    cpu PC 0x3F000000
    Run Keyword And Expect Error    Renode has not answered 'emulation RunFor*within 10 s of real time*
    ...    Infer    [0]
    Run Keyword And Expect Error    Renode does not answer*    Load Model

*** Keywords ***
Build Once
    Setup
    Build Model    ${MODEL}    stm32f407    name=sine    optimize_for=size
