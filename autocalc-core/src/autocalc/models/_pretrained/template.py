# SPDX-License-Identifier: MIT
"""Templates of chats: programs of others, run in a sandbox with limits.

A template is written in the language of Jinja.  Its sandbox gives no access to Python.
A process of its own runs it, so that a template that loops or grows is ended.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from autocalc.errors import CheckpointError
from autocalc.models._pretrained.packages import check_package

#: The time and the memory that a template may use, in seconds and in bytes.
SECONDS = 10.0
_MEMORY = 1 << 30

#: The program of the process; it reads what it needs from its standard input.
_PROGRAM = """
import json, sys
given = json.load(sys.stdin)
sys.path[:] = given["path"]
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (given["memory"],) * 2)
except ImportError:
    pass
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.exceptions import TemplateError
from datetime import datetime
def refuse(message):
    raise TemplateError(message)
def tojson(value, indent=None):
    return json.dumps(value, ensure_ascii=False, indent=indent)
rules = {"trim_blocks": True, "lstrip_blocks": True}
rules["extensions"] = ["jinja2.ext.loopcontrols"]
sandbox = ImmutableSandboxedEnvironment(**rules)
sandbox.filters["tojson"] = tojson
sandbox.globals["raise_exception"] = refuse
sandbox.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
try:
    text = sandbox.from_string(given["template"]).render(**given["values"])
    json.dump({"text": text}, sys.stdout)
except MemoryError:
    json.dump({"error": "it needs too much memory"}, sys.stdout)
except Exception as error:
    json.dump({"error": f"{type(error).__name__}: {error}"[:500]}, sys.stdout)
"""


def render(template: str, values: dict[str, Any], seconds: float = SECONDS) -> str:
    """Return the text that a template makes of some values."""
    import subprocess

    check_package("jinja2", "chat")
    given = {
        "path": sys.path,
        "memory": _MEMORY,
        "template": template,
        "values": values,
    }
    command = [sys.executable, "-c", _PROGRAM]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(given).encode(),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _failed(f"it was ended after {seconds:g} seconds") from None
    try:
        result = json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise _failed(lines[-1] if lines else f"exit code {done.returncode}") from None
    if "error" in result:
        raise _failed(result["error"])
    text: str = result["text"]
    return text


def _failed(reason: str) -> CheckpointError:
    return CheckpointError(
        f"chat: the template of the folder failed: {reason}. Write the prompt "
        "without a template, or repair chat_template in the folder."
    )
