# SPDX-License-Identifier: BSD-3-Clause
"""`python -m telpher`, and the command that pip installs."""
import sys

from .main import main


def command() -> int:
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(command())
