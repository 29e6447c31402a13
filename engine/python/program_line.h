// programLine(): where in the program the interpreter is now, for messages.
#pragma once

#include <string>

namespace kerf::inline python {

/// The name under which the running program's frames are known ("bug.py").
void setProgramName(const std::string& name);
/// " (bug.py, line 3)" of the innermost frame of the program; empty outside of it.
std::string programLine();

}  // namespace kerf::inline python
