// What ends tracing: a graph break with the words of PyTorch's registry, a Python exception, a skipped frame.
#pragma once

#include <string>
#include <vector>

namespace kerf::inline dynamo {

/// A graph break. `type` is the first line of its reason, as PyTorch's registry of graph breaks names it.
struct Unsupported {
  std::string type;
  std::string explanation;
  std::string context;
  std::vector<std::string> hints;
  std::vector<std::string> stack;  ///< user code, outermost first: "file.py:3 in f"
  bool skipFrame = false;          ///< no part of the frame may be compiled
  std::string error;               ///< the program gets it, as this class of torch._dynamo.exc; empty: a graph break
};

/// A Python exception is pending (PyErr_Occurred) and looks for its handler.
struct PythonRaised {};

/// The frame runs as it was written: nothing in it is worth a graph.
struct SkipFrame {
  std::string reason;
};

[[noreturn]] void unsupported(std::string type, std::string explanation, std::string context = {},
                              std::vector<std::string> hints = {});

}  // namespace kerf::inline dynamo
