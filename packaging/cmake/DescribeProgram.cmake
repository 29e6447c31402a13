# Runs when Kerf is installed: manual pages, packed as Debian wants them, and completions, written by the program itself.
find_program(kerf_gzip gzip REQUIRED)
function(kerf_pack)
  execute_process(COMMAND ${kerf_gzip} -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${kerf_about})
file(MAKE_DIRECTORY ${kerf_about}/man1)
execute_process(COMMAND ${kerf_program} manual ${kerf_about}/man1 OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${kerf_about}/man1/kerf-studio.1)  # the window's own page stands in its package
file(GLOB pages ${kerf_about}/man1/*.1)
kerf_pack(${pages})
foreach(shell bash zsh fish)
  execute_process(COMMAND ${kerf_program} completions ${shell} OUTPUT_FILE ${kerf_about}/${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(COPY ${CMAKE_CURRENT_LIST_DIR}/../desktop/kerf-studio.1 DESTINATION ${kerf_about})
kerf_pack(${kerf_about}/kerf-studio.1)
