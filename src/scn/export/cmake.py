"""NAME.cmake: the network as a static library for programs that are built by CMake.

Not a CMakeLists.txt: networks are written into folders that have one already, which must not be lost, and two
networks in one folder need two.
"""

from __future__ import annotations

TEXT = """\
# Made by `scn export`: {name} as a static library. In your CMakeLists.txt:
#   include(path/to/{name}.cmake)
#   target_link_libraries(your_program PRIVATE {name})
# -DSCN_PORT_HEADER=port.h names a file of your board's; see {name}.c for what it may say.
add_library({name} STATIC "${{CMAKE_CURRENT_LIST_DIR}}/{name}.c")
target_include_directories({name} PUBLIC "${{CMAKE_CURRENT_LIST_DIR}}")
set_target_properties({name} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
if(SCN_PORT_HEADER)
  target_compile_definitions({name} PRIVATE "SCN_PORT_HEADER=\\"${{SCN_PORT_HEADER}}\\"")
endif()
"""


def cmake(name: str) -> str:
    """The text of the file."""
    return TEXT.format(name=name)
