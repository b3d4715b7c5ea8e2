# libcudart under the three names that programs ask for: libcudart.so.13, .12 and .11.0, each with the symbol
# version of that name. The code is the same but for rt_abi.c (arguments and structs that changed between CUDA
# versions).
file(GLOB rt_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/rt_*.c)
list(FILTER rt_sources EXCLUDE REGEX "/rt_abi\\.c$")
add_library(heddle_rt_objects OBJECT ${rt_sources})

# For the unit tests: the runtime of CUDA 13 on the static libraries.
add_library(heddle_rt STATIC $<TARGET_OBJECTS:heddle_rt_objects> ${CMAKE_CURRENT_LIST_DIR}/rt_abi.c)
target_link_libraries(heddle_rt PUBLIC heddle_cuda ${CMAKE_DL_LIBS})

function(heddle_cudart abi soname)
  set(map ${CMAKE_CURRENT_LIST_DIR}/exports/libcudart.so.${soname}.map)
  add_library(cudart${abi} SHARED $<TARGET_OBJECTS:heddle_rt_objects> ${CMAKE_CURRENT_LIST_DIR}/rt_abi.c)
  target_compile_definitions(cudart${abi} PRIVATE RT_ABI=${abi})
  target_link_libraries(cudart${abi} PRIVATE heddle_shared heddle_base ${CMAKE_DL_LIBS})
  target_link_options(cudart${abi} PRIVATE -Wl,--version-script=${map} -Wl,--no-undefined -Wl,--gc-sections)
  set_target_properties(cudart${abi} PROPERTIES
    PREFIX "" OUTPUT_NAME libcudart.so.${soname} SUFFIX "" NO_SONAME ON LINK_DEPENDS ${map}
    BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  target_link_options(cudart${abi} PRIVATE -Wl,-soname,libcudart.so.${soname})
endfunction()

heddle_cudart(13 13)
heddle_cudart(12 12)
heddle_cudart(11 11.0)
add_custom_command(TARGET cudart13 POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink libcudart.so.13 $<TARGET_FILE_DIR:cudart13>/libcudart.so)
