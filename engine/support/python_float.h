// repr() of Python's float, as every printed form of a graph and of a symbolic expression uses it.
#pragma once

#include <string>

namespace kerf::inline support {

/// Python's repr() of a float: shortest text that reads back equal ("1e-05", "0.5", "inf", "nan", "1e+16").
std::string pythonFloat(double value);

}  // namespace kerf::inline support
