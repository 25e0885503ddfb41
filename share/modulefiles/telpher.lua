-- SPDX-License-Identifier: BSD-3-Clause
-- Module file for Lmod. It finds its installation from its own place: PREFIX/share/modulefiles/telpher/VERSION.lua,
-- so `module use PREFIX/share/modulefiles` is all that a site has to do.
help([[Telpher: device memory in MPI calls, over any MPI.
telpher run -n 2 ./program      starts a program under it
telpher doctor                  says whether everything is in order here]])
whatis("Name: telpher")
whatis("Description: device memory in MPI calls, over any MPI")

local here = myFileName()
if here:sub(1, 1) ~= "/" then
  LmodError("the path of this module file is not absolute: " .. here)
end
local prefix = here:match("^(.*)/share/modulefiles/")
local library = pathJoin(prefix, "lib")
if not isDir(pathJoin(library, "cmake", "telpher")) then
  library = pathJoin(prefix, "lib64")
end

conflict("telpher")
setenv("TELPHER_HOME", prefix)
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PKG_CONFIG_PATH", pathJoin(library, "pkgconfig"))
prepend_path("CPATH", pathJoin(prefix, "include"))
prepend_path("LIBRARY_PATH", library)
prepend_path("LD_LIBRARY_PATH", library)
