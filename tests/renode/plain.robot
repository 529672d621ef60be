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
    Run Keyword And Expect Error    It was expected in layer 1.*
    ...    Fault Should Be    undefined instruction    layer=1
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

Neither More Nor Less Is Compared Than Is There
    ${three}=    Set Variable    ${OUTPUT DIR}/three.npz
    Evaluate    numpy.savez($three, in0=numpy.zeros((3, 1, 1), "int8"))    modules=numpy
    Run Keyword And Expect Error    99 samples were asked for, and */three.npz has 3; give samples=3*
    ...    Infer    ${three}    samples=99
    Run Keyword And Expect Error    2 samples were asked for, and the test has 1;*
    ...    Infer    [0]    samples=2
    Run Keyword And Expect Error    samples=0 makes no sense*    Infer    random    samples=0
    Run Keyword And Expect Error    samples=-1 makes no sense*    Infer    ${three}    samples=-1
    ${outputs}=    Infer    ${three}    samples=2
    ${answers}=    Set Variable    ${OUTPUT DIR}/answers.npz
    FOR    ${count}    IN    1    3
        Evaluate    numpy.savez($answers, out0=numpy.full((${count}, 1, 1), $outputs[0][0]))    modules=numpy
        Run Keyword And Expect Error    *2 samples ran, so it must be [[]2, 1, 1].
        ...    Output Should Match    ${answers}
    END
    Evaluate    numpy.savez($answers, out0=numpy.full((2, 1, 1), $outputs[0][0]), out1=[0])    modules=numpy
    Run Keyword And Expect Error    */answers.npz has more outputs than the 1 of the network 'sine'*
    ...    Output Should Match    ${answers}
    Evaluate    numpy.savez($answers, out0=numpy.full((2, 1, 1), $outputs[0][0]))    modules=numpy
    Output Should Match    ${answers}
    FOR    ${tolerance}    IN    -1    nan    inf
        Run Keyword And Expect Error    tolerance=${tolerance} makes no sense*
        ...    Output Should Match    ${answers}    tolerance=${tolerance}
    END
    Run Keyword And Expect Error    run_timeout=0 makes no sense*    Load Model    run_timeout=0

A Fault That Nobody Asks For
    Provoke Fault    undefined instruction    layer=0
    Infer    [0]
