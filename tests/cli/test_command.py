"""The command line's contract: forms, files, exit codes, targets, jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pypto_verified.cli import main
from pypto_verified.report.json_form import from_json

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
VECTOR_ADD = str(EXAMPLES / "vector_add.py")
BOUND = str(EXAMPLES / "broken" / "bound.py")


def report_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    main([*arguments, "--format", "json"])
    return dict(from_json(capsys.readouterr().out))


@pytest.mark.requirement("VF-05")
def test_exit_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import pypto.language\nwhile True:\n    pass\n", encoding="utf-8")
    slow, missing = str(tmp_path / "slow.py"), str(tmp_path / "missing.py")
    assert main([VECTOR_ADD]) == 0
    assert main([VECTOR_ADD, BOUND]) == 1
    assert main([VECTOR_ADD, slow, "--timeout", "1.5"]) == 3
    assert main([VECTOR_ADD, slow, BOUND, "--timeout", "1.5"]) == 1
    assert main([VECTOR_ADD, BOUND, missing]) == 2
    capsys.readouterr()


def test_check_is_the_default_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_of(capsys, VECTOR_ADD) == report_of(capsys, "check", VECTOR_ADD)


def test_a_report_is_the_same_bytes_every_time_and_with_any_number_of_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    texts = set()
    for jobs in ("1", "2", "2"):
        main([str(EXAMPLES), "--format", "json", "-j", jobs])
        texts.add(capsys.readouterr().out)
    assert len(texts) == 1


def test_a_directory_is_searched_and_a_file_named_twice_is_checked_once(capsys: pytest.CaptureFixture[str]) -> None:
    found = from_json_files(report_of(capsys, str(EXAMPLES), VECTOR_ADD))
    assert VECTOR_ADD in found and BOUND in found
    assert len(found) == len(set(found))
    assert found == sorted(found)


def from_json_files(report: dict[str, object]) -> list[str]:
    files = report["files"]
    assert isinstance(files, list)
    return [file["path"] for file in files]


def test_files_without_a_kernel_and_hidden_names_are_not_found_in_a_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "helper.py").write_text("import os\n", encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    for name in (".venv/k.py", "deep.py", ".hidden.py"):
        (tmp_path / name).write_text(Path(VECTOR_ADD).read_text(encoding="utf-8"), encoding="utf-8")
    assert from_json_files(report_of(capsys, str(tmp_path))) == [str(tmp_path / "deep.py")]


def test_the_target_on_the_command_line_wins_and_a_note_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", VECTOR_ADD, "-o", str(tmp_path), "--target", "a5"]) == 0
    module = str(tmp_path / "ptoas" / "vector_add.pto")
    capsys.readouterr()
    assert report_of(capsys, module)["target"] == "a5"
    assert report_of(capsys, module, "--target", "a2a3")["target"] == "a2a3"
    main([module, "--target", "a2a3"])
    assert "the module is for a5; checked for a2a3" in capsys.readouterr().out


def test_compile_writes_the_module_and_the_ir_after_each_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", VECTOR_ADD, "-o", str(tmp_path)]) == 0
    assert 'pto.target_arch = "a2a3"' in (tmp_path / "ptoas" / "vector_add.pto").read_text(encoding="utf-8")
    assert any((tmp_path / "passes_dump" / "vector_add").iterdir())


@pytest.mark.requirement("CG-18")
def test_compile_without_locations_by_flag_and_by_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def text(name: str, *flags: str) -> str:
        assert main(["compile", VECTOR_ADD, "-o", str(tmp_path / name), *flags]) == 0
        return (tmp_path / name / "ptoas" / "vector_add.pto").read_text(encoding="utf-8")

    assert "vector_add.py" in text("with")
    without = text("flag", "--no-loc")
    assert "loc(" not in without
    monkeypatch.setenv("PYPTO_EMIT_PTO_LOC", "0")
    assert text("environment") == without


def test_compile_of_a_wrong_kernel_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.py").write_text("x = 1\n", encoding="utf-8")
    assert main(["compile", str(tmp_path / "k.py"), "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith("pypto-verify: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("planner", "level", "code"), [("PYPTO", "3", 0), ("PYPTO", "2", 1), ("PTOAS", "2", 0), ("PTOAS", "3", 1)]
)
def test_the_level_of_a_module_is_that_of_its_addresses_unless_it_is_given(
    planner: str, level: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", VECTOR_ADD, "-o", str(tmp_path), "--memory-planner", planner]) == 0
    module = str(tmp_path / "ptoas" / "vector_add.pto")
    assert main([module]) == 0
    assert main([module, "--level", level]) == code
    assert ("PLAN-LEVEL" in capsys.readouterr().out) is (code == 1)


def test_output_goes_to_the_file_whole_and_leaves_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.json"
    out.write_text("old", encoding="utf-8")
    assert main([VECTOR_ADD, "--format", "json", "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert from_json(out.read_text(encoding="utf-8"))["files"][0]["verdict"] == "PROVED"
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


def test_output_that_cannot_be_written_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for target in (tmp_path / "no" / "such" / "directory.json", tmp_path):
        assert main([VECTOR_ADD, "-o", str(target)]) == 2
        assert capsys.readouterr().err.startswith(f"pypto-verify: can't write {target}: ")


def test_output_to_a_device_or_through_a_link_replaces_neither(tmp_path: Path) -> None:
    assert main([VECTOR_ADD, "-o", os.devnull]) == 0
    assert Path(os.devnull).is_char_device()
    link, real = tmp_path / "link", tmp_path / "real"
    link.symlink_to(real)
    assert main([VECTOR_ADD, "-o", str(link)]) == 0
    assert link.is_symlink() and "PROVED" in real.read_text(encoding="utf-8")


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    command = f"{sys.executable} -m pypto_verified rules | head -n 1 > {os.devnull}; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.stderr == ""


@pytest.mark.parametrize("form", ["json", "sarif", "html", "text"])
def test_every_form_names_the_refuted_rule_and_its_line(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([BOUND, "--format", form]) == 1
    shown = capsys.readouterr().out
    assert "BOUND" in shown and "bound.py" in shown
    if form in ("json", "sarif"):
        json.loads(shown)


@pytest.mark.parametrize(
    "arguments",
    [["--level", "4", "k.py"], ["--format", "pdf", "k.py"], ["k.py", "-j", "0"], ["k.py", "--timeout", "-1"], ["check"],
     ["k.py", "--timeout", "nan"], ["k.py", "--target", "a9"], []],
)
def test_wrong_arguments_are_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: object = main(arguments)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert "usage: pypto-verify" in capsys.readouterr().err


def test_help_loads_neither_solver_nor_arrays_nor_the_compiler() -> None:
    code = "import sys, pypto_verified.cli as c; c._parser(); print(sorted(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    loaded = set(eval(shown.stdout))
    assert not loaded & {"z3", "numpy", "rich", "jinja2", "pypto_verified.check", "multiprocessing"}


@pytest.mark.parametrize("rule", ["BOX-ROWS", "LEGAL-OPERAND-TYPES-A3"])
def test_a_rule_that_a_report_names_can_be_looked_up(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", rule]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(rule) and "claim:" in shown and "source:" in shown
    assert main(["rules"]) == 0
    assert f"\n{rule} " in "\n" + capsys.readouterr().out


def test_the_name_of_a_family_lists_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "box"]) == 0
    shown = capsys.readouterr().out
    assert "BOX-ROWS " in shown and "VIEW-" not in shown
    assert main(["rules", "BO"]) == 2
    assert "no rule BO" in capsys.readouterr().err


def test_an_output_that_is_only_rebound_is_refuted_at_the_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = tmp_path / "rebound.py"
    kernel.write_text(
        "import pypto.language as pl\n\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
        "    def k(self, a: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],\n"
        "          aux: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):\n"
        "        t = pl.load(a, [0, 0], [32, 64])\n        aux = pl.add(t, 1.0)\n"
        "        return pl.store(t, [0, 0], out)\n"
    )
    assert main([str(kernel), "--format", "json"]) == 1
    (function,) = json.loads(capsys.readouterr().out)["files"][0]["functions"]
    (finding,) = function["findings"]
    assert (finding["rule"], finding["line"]) == ("WRITE-OUT", 7)
    assert "aux" in finding["message"]


@pytest.mark.parametrize("text", ["M", "M / 2 == 3", "__import__('os')", "M >"])
def test_an_assumption_that_is_no_condition_ends_the_run(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([BOUND, "--assume", text]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1


def test_assumptions_that_contradict_each_other_are_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([BOUND, "--assume", "M >= 32", "--assume", "M < 3"]) == 3
    assert capsys.readouterr().out.count("contradict each other") == 1


def test_a_report_never_overwrites_its_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(Path(BOUND).read_text())
    assert main([str(kernel), "-o", str(kernel)]) == 2
    assert kernel.read_text() == Path(BOUND).read_text()
    assert "is an input" in capsys.readouterr().err


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    module = tmp_path / "marked.pto"
    module.write_bytes(b"\xef\xbb\xbf" + (EXAMPLES / "broken" / "plan.pto").read_bytes())
    assert main([str(module)]) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device on this platform")
@pytest.mark.parametrize("command", [["rules"], [VECTOR_ADD], [VECTOR_ADD, "--format", "json"]])
@pytest.mark.parametrize(("where", "message"), [
    (">/dev/full", "can't write to stdout: No space left on device"), (">&-", "stdout is closed"),
])
def test_output_that_can_not_be_written_is_one_line(command: list[str], where: str, message: str) -> None:
    shell = f'"$@" {where}'
    run = subprocess.run(
        ["sh", "-c", shell, "sh", sys.executable, "-m", "pypto_verified", *command], cwd=ROOT, text=True,
        stderr=subprocess.PIPE, check=False)
    assert run.returncode == 2
    assert run.stderr.startswith("pypto-verify: ") and message in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_short_run_is_not_searched_for_garbage() -> None:
    code = (f"import gc, sys; from pypto_verified.cli import main; sys.argv = ['x', {VECTOR_ADD!r}, '--timeout', '0', "
            "'--no-cache']; main(); print(gc.get_stats()[0]['collections'])")
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert int(run.stdout.splitlines()[-1]) < 60
