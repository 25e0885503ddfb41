# SPDX-License-Identifier: BSD-3-Clause
"""The `telpher` command. One module a subcommand; nothing here is needed to use the library."""


class UserError(Exception):
    """What the user has to read: one line with the cause and the remedy."""
