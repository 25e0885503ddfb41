# SPDX-License-Identifier: BSD-3-Clause
"""The `telpher` command. One module a subcommand; nothing here is needed to use the library. For Python programs
whose launch line cannot be changed, `telpher.preload()` does what `telpher exec` does."""


class UserError(Exception):
    """What the user has to read: one line with the cause and the remedy."""


def preload(mpi: str = "", visible: str = "auto", bind: str = "auto") -> str:
    """Puts Telpher in front of the MPI of this process, before anything has loaded it:

        import telpher; telpher.preload()
        from mpi4py import MPI

    Returns the path of the library. The arguments are those of `telpher exec`. See telpher/preload.py."""
    from .preload import preload as act
    return act(mpi, visible, bind)
