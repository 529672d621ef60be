# Writes the files FILES, text in ASCII, as zero-terminated constants into the header OUTPUT: of
# kernels/conv.c it makes `static const char kernel_file_conv[]`. An array has no limit of length, as
# a string literal of C99 has. Stops at a file without a kernel in it. Run by `cmake -P` when the
# library is built.
set(text "/* Made by embed.cmake of the files of kernels/. */\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} code)
  if(NOT code MATCHES "\nstatic inline [a-z0-9_]+ dynref_[a-z0-9_]+\\([^()]+\\) {\n")
    message(FATAL_ERROR "${file} must define a function `static inline RESULT dynref_NAME("
                        "PARAMETERS) {`, which kernels.c looks for.")
  endif()
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND text "static const char kernel_file_${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
