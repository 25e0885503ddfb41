# SPDX-License-Identifier: BSD-3-Clause
# cmake -D MANIFEST=install_manifest.txt -P uninstall.cmake: removes the files that the list names, what Python
# compiled beside them, and the folders of Telpher's own that are empty then.
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "nothing was installed from here: there is no ${MANIFEST}")
endif()
file(STRINGS ${MANIFEST} files)
set(folders)
foreach(file IN LISTS files)
  file(REMOVE "$ENV{DESTDIR}${file}")
  cmake_path(GET file PARENT_PATH folder)
  while(folder MATCHES "/telpher(/|$)")  # only folders named after Telpher, and what is in them
    list(APPEND folders "$ENV{DESTDIR}${folder}")
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING)  # the inner ones first
foreach(folder IN LISTS folders)
  file(REMOVE_RECURSE "${folder}/__pycache__")
  file(GLOB left "${folder}/*" "${folder}/.*")
  list(FILTER left EXCLUDE REGEX "/\\.\\.?$")
  if(IS_DIRECTORY "${folder}" AND NOT left)
    file(REMOVE_RECURSE "${folder}")
  endif()
endforeach()
file(REMOVE ${MANIFEST})
list(LENGTH files count)
message(STATUS "removed ${count} files")
