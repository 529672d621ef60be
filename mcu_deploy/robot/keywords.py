"""The keywords: a model built, loaded, run and judged in a test of Robot Framework."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, open_folder
from mcu_deploy.boards import load_board
from mcu_deploy.codegen.names import network_name
from mcu_deploy.compiled import Network
from mcu_deploy.errors import RequestError
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.given import is_file, why_no_file
from mcu_deploy.options import Options, flagged, from_typed
from mcu_deploy.robot import faults, values
from mcu_deploy.robot.renode import RenodeServer
from mcu_deploy.robot.target import Ran, RobotTarget, temporary_folder
from mcu_deploy.version import VERSION

_RUN_SECONDS, _REAL_SECONDS = 60.0, 300.0


class Keywords:
    """Networks that mcu-deploy compiles, in tests on emulated boards.

    In a suite that ``renode-test`` runs, a model is loaded into that very Renode, where peripherals
    of your own may stand beside it. Under plain ``robot`` mcu-deploy starts an emulator, QEMU or
    Renode, at each `Load Model`.

    | ***** Settings *****
    | Library    mcu_deploy.robot
    |
    | ***** Test Cases *****
    | Key Words Are Spotted
    |     Build Model    kws.onnx    stm32f746
    |     Load Model
    |     Infer    samples.npz
    |     Output Should Match    oracle
    |     Instructions Should Be At Most    2_400_000
    |     Fault Should Be    none

    In Renode virtual time passes only while a keyword waits for the device, so that outputs, faults
    and counts are the same in each run.
    """

    ROBOT_LIBRARY_SCOPE = "SUITE"
    ROBOT_LIBRARY_VERSION = VERSION
    ROBOT_LISTENER_API_VERSION = 3

    def __init__(self) -> None:
        self.ROBOT_LIBRARY_LISTENER = self
        self._kept = ExitStack()
        self._built: BuildFolder | None = None
        self._target: RobotTarget | None = None
        self._networks: dict[tuple[Path, str], Network] = {}

    def build_model(
        self,
        model: str,
        board: str,
        folder: str | None = None,
        name: str | None = None,
        **options: Any,
    ) -> str:
        """Compiles a model (.onnx, .tflite, .pmx) for a board, as ``mcu-deploy build`` does.

        ``board`` is one that ``mcu-deploy boards`` lists, or a board.toml. ``folder`` is the build
        folder; without it the build is gone after the suite. ``name`` is the network's. What
        follows are options of ``mcu-deploy build``, with ``_`` for ``-``. Returns the folder.

        | Build Model    kws.onnx    stm32f746
        | Build Model    kws.onnx    stm32f746    build/kws    optimize_for=size    memory=compact
        """
        chosen = _options(options)
        called = network_name(name, Path(model))
        if folder is None:
            folder = str(Path(self._kept.enter_context(temporary_folder())) / called)
        made = build(model, board, folder, name=name, options=chosen)
        self._built = open_folder(made.directory)
        self._networks.clear()
        report = self._built.report
        print(
            f"built {called} for {report.board}: {report.firmware_flash_bytes:,} bytes of flash, "
            f"{report.firmware_ram_bytes:,} bytes of RAM"
        )
        return str(made.directory)

    def load_model(
        self,
        folder: str | None = None,
        run_timeout: float = _RUN_SECONDS,
        real_timeout: float = _REAL_SECONDS,
    ) -> None:
        """Loads a build's firmware into its board; without a folder, of the last `Build Model`.

        In renode-test this makes the board's machine, and runs nothing yet: peripherals of your own
        come behind it, by Renode's ``Execute Command``. renode-test clears Renode before each test,
        so each test loads anew. ``run_timeout``: seconds, in renode-test virtual ones, after which
        an inference is stopped that shows no sign of life. ``real_timeout``: seconds by the clock
        on the wall that renode-test's Renode may take for a command, or for all of a keyword.

        | Load Model
        | Load Model    build/stm32f746/kws
        """
        build_folder = self._built if folder is None else open_folder(folder)
        if build_folder is None:
            raise RequestError(
                "There is no build to load: use `Build Model` first, or name a build folder."
            )
        self._unload()
        renode = _renode()
        if renode is not None:
            renode.patience = values.seconds(real_timeout, "real_timeout")
        run_seconds = values.seconds(run_timeout, "run_timeout")
        self._target = RobotTarget(build_folder, renode, run_seconds)

    def load_firmware(self, elf: str, board: str) -> None:
        """Loads a program of your own into a board's machine in Renode, and runs nothing yet.

        For a program that links the object of ``mcu-deploy build --core`` and talks as it likes:
        Renode's ``Start Emulation`` starts it, and its own keywords listen to it.

        | Load Firmware    build/firmware.elf    stm32f407
        | Create Terminal Tester    sysbus.usart2
        | Start Emulation
        | Wait For Line On Uart    ready
        """
        renode = _renode()
        if renode is None:
            raise RequestError("`Load Firmware` needs the Renode of renode-test: run it with that.")
        target, path = load_board(board), Path(elf).absolute()
        if not is_file(path):
            raise RequestError(f"The firmware {elf} {why_no_file(path)}. Build it first.")
        self._unload()
        renode.load(target, path, Path(self._kept.enter_context(temporary_folder()))).line.close()

    def infer(
        self, inputs: Any, samples: int | None = None, model: str | None = None
    ) -> list[list[Array]]:
        """Runs inputs through the network. Returns the outputs: of each sample a list of arrays.

        ``inputs`` is an .npz with in0, in1, ..., whose first axis is the sample, or ``random``,
        which are made-up samples, the same in each run, or the numbers of the only input.
        ``samples``: only so many. ``model``: which one, where the firmware holds several. States
        have their initial values at the first sample.

        A fault on the device does not fail this keyword, so that `Fault Should Be` can ask for it.
        If nothing does, the next keyword fails, or the test at its end.

        | Infer    samples.npz    samples=8
        | Infer    [12, -3, 7]
        """
        target = self._loaded()
        target.require_no_fault()
        entry = target.folder.network(model)
        network = self._network(target.folder, entry.name)
        given = values.samples_of(inputs, network, samples)
        outputs: list[list[Array]] = []
        target.ran = None
        with target.device() as device:
            if entry.states:
                device.reset_states(entry.name)
            for sample in given.inputs:
                # Lanes run at once only where no hook watches.
                outputs.append(device.infer(entry.name, list(sample), bare=bool(entry.lanes)))
            target.ran = Ran(network, given, outputs)
        return outputs

    def output_should_match(self, expected: Any, tolerance: float | None = None) -> None:
        """Compares the outputs of the last `Infer` with what they should be.

        ``expected`` is ``oracle``, the project's own interpreter with the same inputs, or an .npz
        with out0, out1, ..., whose first axis is the sample, or the numbers of the only output of
        one sample. ``tolerance`` is the largest difference allowed; without it integers are to be
        equal, and real numbers as close as docs/arithmetic.md says under "Agreement".

        | Output Should Match    oracle
        | Output Should Match    answers.npz    tolerance=1
        | Output Should Match    [-128, 127, -128]
        """
        target = self._loaded()
        target.require_no_fault()
        ran = target.ran
        if ran is None:
            raise RequestError("Nothing was run since the model was loaded: use `Infer` first.")
        should = values.expected_of(expected, ran.network, ran.samples)
        board = target.folder.board.name
        said = values.difference(ran.network, board, ran.outputs, should, tolerance)
        if said is not None:
            raise AssertionError(said)
        print(f"{len(ran.samples)} samples of {ran.network.name} on {board} are as expected")

    def instructions_should_be_at_most(self, limit: int) -> int:
        """Counts the instructions of one inference, and returns how many they are.

        The same number as of ``mcu-deploy profile``: the build's bench.elf runs, without the serial
        protocol, on inputs of zeros. Of several networks in a firmware it is the first. In
        renode-test it takes the firmware's place, and then the whole machine is reset: what your
        peripherals were fed is gone.

        | Instructions Should Be At Most    2_400_000
        """
        target = self._loaded()
        target.require_no_fault()
        total, folder = target.instructions(), target.folder
        what = f"one inference of {folder.networks[0].name} on {folder.board.name}"
        if total > limit:
            raise AssertionError(
                f"{what} takes {total:,} instructions, at most {limit:,} were allowed: "
                f"{total - limit:,} too many"
            )
        print(f"{what} takes {total:,} instructions, of {limit:,} at most")
        return total

    def provoke_fault(self, fault: str, layer: str | None = None) -> None:
        """Makes the firmware fault: at once, or in a layer of the next `Infer`.

        ``fault`` is one of ``undefined instruction``, ``bad read``, ``bad write``, ``bad jump``,
        ``unaligned``, ``divide by zero``, ``stack overflow``, ``invalid state`` and, in a layer
        only, ``endless``. ``layer`` is its number or its short name. What a core cannot do it
        refuses. Renode raises neither ``bad read``, ``bad write``, ``bad jump``, ``unaligned`` nor
        ``divide by zero``, nor on Armv8-M ``stack overflow`` (docs/emulators.md): there these are
        refused.

        | Provoke Fault    undefined instruction    layer=conv_2
        """
        what = faults.provoked(fault)
        target = self._loaded()
        target.require_no_fault()
        number = None if layer is None else _layer(target.folder, layer)
        faults.require_raised(what, target.emulator, target.folder.board)
        with target.device() as device:
            device.provoke(what, layer=number)

    def fault_should_be(self, fault: str, layer: str | None = None) -> None:
        """Asks whether the device has faulted since it was last asked, and how.

        ``fault`` is a cause (``undefined instruction``, ``bad read``, ``stack overflow``, ...), an
        exception (``usage fault``, ``bus fault``, ``memmanage fault``, ``hard fault``), or
        ``none``. ``layer``: in which layer, by its number or its short name. A run that was stopped
        because it did not end is the fault ``stopped``.

        | Fault Should Be    undefined instruction    layer=conv_2
        | Fault Should Be    none
        """
        target = self._loaded()
        found = target.fault
        if faults.is_none(fault):
            target.require_no_fault()
            return
        if found is None:
            faults.require_known(fault)
            raise AssertionError(f"The device has not faulted; {fault!r} was expected.")
        told, report = target.told(found), found.report
        number = None if layer is None else _layer(target.folder, layer)
        if not faults.matches(fault, report):
            raise AssertionError(
                f"{fault!r} was expected, and it is: {faults.called(report)}\n{told}"
            )
        if number is not None and report.layer != number:
            raise AssertionError(f"It was expected in layer {layer}.\n{told}")
        target.fault = None
        print(f"as expected: {told}")

    # ---- What Robot Framework tells its libraries ----

    def _end_test(self, data: Any, result: Any) -> None:
        """A fault that no keyword has asked for fails the test. What was in the test's Renode is
        gone after it."""
        target = self._target
        if target is None:
            return
        if target.fault is not None and result.passed:
            result.status = "FAIL"
            result.message = f"Nobody has asked for this fault: {target.told(target.fault)}"
        target.fault = None
        if target.renode is not None:
            self._unload()

    def _close(self) -> None:
        """The suite is over."""
        self._unload()
        self._kept.close()

    # ---- Inside ----

    def _loaded(self) -> RobotTarget:
        if self._target is None:
            raise RequestError(
                "No model is loaded: use `Load Model` first, in each test (renode-test clears "
                "Renode before each)."
            )
        return self._target

    def _unload(self) -> None:
        target, self._target = self._target, None
        if target is not None:
            target.close()

    def _network(self, folder: BuildFolder, name: str) -> Network:
        key = folder.directory, name
        if key not in self._networks:
            self._networks[key] = folder.compile_again(name)
        return self._networks[key]


def _renode() -> RenodeServer | None:
    """The Renode of renode-test; None where this is no test of that."""
    try:
        from robot.libraries.BuiltIn import BuiltIn, RobotNotRunningError
    except ImportError:
        return None
    robot: Any = BuiltIn()
    try:
        # of tests/renode-keywords.robot, which renode-test gives to each suite
        robot.keyword_should_exist("Reset Emulation")
        return RenodeServer(int(robot.get_variable_value("${PORT_NUMBER}")))
    except (AssertionError, RobotNotRunningError, TypeError, ValueError):
        return None


def _options(given: dict[str, Any]) -> Options:
    """Options of a build as keywords get them: texts, and one where several may be given."""
    known = {each.flag.parameter: each for each in flagged()}
    typed = dict(given)
    for name, value in given.items():
        if name not in known:
            raise RequestError(
                f"`Build Model` has no option {name!r}; those of `mcu-deploy build` are: "
                f"{', '.join(known)}."
            )
        each = known[name]
        if each.is_repeated and isinstance(value, str):
            typed[name] = [value]
        elif each.typed is bool:
            typed[name] = str(value).lower() in ("true", "yes", "on", "1")
        elif each.typed is int and isinstance(value, str) and value.isdecimal():
            typed[name] = int(value)
    return from_typed(typed)


def _layer(folder: BuildFolder, layer: str) -> int:
    """The number of a layer of the firmware's first network."""
    layers = folder.networks[0].layers
    names = [entry.short for entry in layers]
    if layer in names:
        return names.index(layer)
    if layer.isdecimal() and int(layer) < len(layers):
        return int(layer)
    raise RequestError(
        f"{folder.networks[0].name!r} has no layer {layer!r}; it has {', '.join(names)}."
    )
