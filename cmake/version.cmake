# SPDX-License-Identifier: BSD-3-Clause
# cmake -D VERSION=... -D SOURCE=... -D OUTPUT=... -P version.cmake: writes a file with the version and the
# commit that is built. In a source archive git has written the commit into cmake/commit.txt.
file(STRINGS ${SOURCE}/cmake/commit.txt commit)
if(commit MATCHES "^[0-9a-f]+$")
  string(SUBSTRING ${commit} 0 12 commit)
else()
  set(commit "")
  execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
endif()
set(text "${VERSION}\n${commit}\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
