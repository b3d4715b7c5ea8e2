# simulator_hash.cmake: cmake -DROOT=SOURCE_FOLDER -DOUT=HEADER -P: a header with a hash of the sources that
# decide what a simulation computes. Paths are relative to ROOT and in order: the value depends on nothing but
# names and contents.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/*.[ch] ${ROOT}/src/*.def ${ROOT}/include/*.h)
list(FILTER files EXCLUDE REGEX "^src/(lab|cli|energy)/")
list(SORT files COMPARE STRING)
set(lines "")
foreach(file ${files})
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND lines "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${lines}")
string(SUBSTRING ${hash} 0 32 hash)
file(WRITE ${OUT} "#define SIMULATOR_HASH \"${hash}\"\n")
