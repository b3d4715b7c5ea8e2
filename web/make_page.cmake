# cmake -DNPM= -DNODE= -DSOURCE= -DWORK= -DOUT= -P make_page.cmake packages|page. Packages that cannot be had
# are said loudly, but do not break the build: the simulator does not need the page.
math(EXPR last "${CMAKE_ARGC} - 1")
set(step ${CMAKE_ARGV${last}})
set(stamp ${WORK}/${step}.stamp)

function(give_up what)
  message("\n*** The page of `heddle report` could not be built: ${what}.\n"
          "*** All else is built. With a network (or npm's cache) at hand: "
          "cmake --build BUILD --target report_page\n")
endfunction()

file(MAKE_DIRECTORY ${WORK} ${OUT})
if(step STREQUAL "packages")
  file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json ${SOURCE}/.npmrc DESTINATION ${WORK})
  # Few and short attempts: a machine without a network should not wait for minutes.
  execute_process(COMMAND ${NPM} ci --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000
    --fetch-retry-maxtimeout=2000 --fetch-timeout=60000 --loglevel=error
                  WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE errors TIMEOUT
                    600)
  if(failed)
    message("${errors}")
    give_up("npm ci failed (${failed})")
    return()
  endif()
elseif(NOT EXISTS ${WORK}/packages.stamp)
  return() # said already
else()
  # Beside their packages, where node looks for them.
  file(REMOVE_RECURSE ${WORK}/src)
  file(COPY ${SOURCE}/src ${SOURCE}/build.mjs DESTINATION ${WORK})
  execute_process(COMMAND ${NODE} build.mjs --out ${OUT} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed
    OUTPUT_QUIET TIMEOUT 300)
  if(failed)
    message(FATAL_ERROR "the page of `heddle report`: build.mjs failed (${failed})")
  endif()
endif()
file(TOUCH ${stamp})
