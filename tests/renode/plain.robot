*** Comments ***
The same keywords without renode-test: the emulator, here a process, is mcu-deploy's. The last test
is to fail.

*** Settings ***
Library             mcu_deploy.robot
Suite Setup         Build Model    ${MODEL}    host    name=sine    optimize_for=size
Test Setup          Load Model

*** Variables ***
${MODEL}            ${CURDIR}/../../examples/cmake/sine.tflite

*** Test Cases ***
A Network Runs And Faults
    Infer    random
    Output Should Match    oracle
    Provoke Fault    undefined instruction    layer=0
    Infer    [0]
    Fault Should Be    undefined instruction    layer=0
    Run Keyword And Expect Error    Nothing counts instructions on the host*
    ...    Instructions Should Be At Most    1

Values And Files Are Compared
    ${outputs}=    Infer    [-64]
    Should Be Equal As Integers    ${outputs}[0][0][0][0]    126
    Output Should Match    [126]
    Run Keyword And Expect Error
    ...    sine on host, sample 0, output 0 (*): value [[]0, 0] is 126, expected 120 (allowed: no difference); 1 of 1 values differ, by up to 6
    ...    Output Should Match    [120]
    Output Should Match    [120]    tolerance=6
    Run Keyword And Expect Error    *(allowed: a difference of 5)*
    ...    Output Should Match    [120]    tolerance=5

What Makes No Sense Is Refused
    Run Keyword And Expect Error    Nothing was run since*    Output Should Match    oracle
    Run Keyword And Expect Error    The input of 'sine' has 1 numbers*    Infer    [1, 2]
    Run Keyword And Expect Error    *quantized tensors are given as integers.    Infer    [0.5]
    Run Keyword And Expect Error    'much' is neither a file*    Infer    much
    Run Keyword And Expect Error    There is no fault called 'hiccup'; use one of: none, nmi*
    ...    Fault Should Be    hiccup
    Run Keyword And Expect Error    No fault 'hiccup' can be provoked*    Provoke Fault    hiccup
    Run Keyword And Expect Error    'sine' has no layer 'x'*    Provoke Fault    bad read    layer=x
    Run Keyword And Expect Error    `Load Firmware` needs the Renode of renode-test*
    ...    Load Firmware    ${CURDIR}/firmware.elf    stm32f746
    Run Keyword And Expect Error    `Build Model` has no option 'speed'; those of*
    ...    Build Model    ${MODEL}    host    speed=1
    Run Keyword And Expect Error    /nowhere is no build folder: it has no report.json.*
    ...    Load Model    /nowhere

A Fault That Nobody Asks For
    Provoke Fault    undefined instruction    layer=0
    Infer    [0]
