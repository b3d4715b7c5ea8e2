# What `cmake --install` puts where. Everything is found relative to the command and to libheddle.so
# (src/core, src/cli/cmd_run.c): the tree may be moved. The replacements of NVIDIA's libraries have a folder
# of their own, which only `heddle run` adds to a program's library path.
install(TARGETS heddle RUNTIME DESTINATION bin)
install(TARGETS heddle_shared heddle_libcuda cudart13 cudart12 cudart11 LIBRARY DESTINATION lib/heddle)
install(FILES $<TARGET_FILE_DIR:cudart13>/libcudart.so DESTINATION lib/heddle)
install(DIRECTORY include/heddle DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY machines energy models examples DESTINATION share/heddle)
install(DIRECTORY experiments DESTINATION share/heddle FILES_MATCHING PATTERN "*.yaml" PATTERN "*.tsv")
# Descriptions; the programs go to lib/heddle/workloads (workloads/CMakeLists.txt). The PTX is a part of a
# run's key (docs/store.md).
install(DIRECTORY workloads DESTINATION share/heddle FILES_MATCHING PATTERN "workload.yaml" PATTERN "*.ptx"
  PATTERN "kit" EXCLUDE)
install(DIRECTORY docs/ DESTINATION share/doc/heddle)
install(FILES README.md LICENSE DESTINATION share/doc/heddle)
