# SPDX-License-Identifier: BSD-3-Clause
# What is installed beside the command and the libraries: the CMake package (find_package(telpher)),
# pkg-config files, a module file, completion for shells. All of it finds its prefix from its own place, so
# that an installation can be moved. The list of what was installed lies there, too, beside the script that removes it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# telpher_install_package(): when all libraries are known.
function(telpher_install_package)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/telpher)
  set(made ${PROJECT_BINARY_DIR}/package)
  get_property(abis GLOBAL PROPERTY telpher_abis)
  file(RELATIVE_PATH TELPHER_UP /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
  string(REGEX REPLACE "/$" "" TELPHER_UP "${TELPHER_UP}")
  foreach(abi IN LISTS abis)
    target_include_directories(telpher_${abi} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    set_target_properties(telpher_${abi} PROPERTIES EXPORT_NAME ${abi})
    install(TARGETS telpher_${abi} EXPORT telpher LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    telpher_group(installed telpher_${abi})
    set(ABI ${abi})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/telpher.pc.in ${made}/telpher-${abi}.pc @ONLY)
    install(FILES ${made}/telpher-${abi}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
  if(abis)
    install(EXPORT telpher NAMESPACE telpher:: FILE telpherTargets.cmake DESTINATION ${package})
    write_basic_package_version_file(${made}/telpherConfigVersion.cmake COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_SOURCE_DIR}/cmake/telpherConfig.cmake ${made}/telpherConfigVersion.cmake
      DESTINATION ${package})
  endif()
  set(headers telpher.h stream.h window.h device.h device_lang.h device_partitions.h device_relay.h
    telpher_f08.f90)
  list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/include/telpher/)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/telpher)
  install(FILES ${PROJECT_SOURCE_DIR}/share/modulefiles/telpher.lua
    DESTINATION share/modulefiles/telpher RENAME ${PROJECT_VERSION}.lua)
  install(FILES ${PROJECT_SOURCE_DIR}/share/completion/telpher.bash
    DESTINATION share/bash-completion/completions RENAME telpher)
  install(FILES ${PROJECT_SOURCE_DIR}/share/completion/_telpher DESTINATION share/zsh/site-functions)
  install(FILES ${PROJECT_SOURCE_DIR}/examples/send_receive_telpher.py DESTINATION share/telpher/examples)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake DESTINATION share/telpher)
endfunction()

# telpher_install_list(): behind all other rules of installation.
function(telpher_install_list)
  install(CODE [[
    set(list "${CMAKE_INSTALL_PREFIX}/share/telpher/installed.txt")
    set(text)
    foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES ITEMS "${list}")
      file(RELATIVE_PATH file "${CMAKE_INSTALL_PREFIX}" "${file}")
      string(APPEND text "${file}\n")
    endforeach()
    file(WRITE "$ENV{DESTDIR}${list}" "${text}")
  ]])
endfunction()
