// From a frame to its compiled form: traces it, ends its graph where it must, writes its code, keeps its guards.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/dynamo/guards.h"
#include "engine/dynamo/symbols.h"
#include "engine/python/reference.h"

namespace kerf::inline dynamo {

/// How torch.compile was asked to compile.
struct FrameOptions {
  bool fullgraph = false;
  DynamicMode dynamic = DynamicMode::Automatic;
  std::string compiler;  ///< "aot_eager" or "inductor": by the compiler that is set; empty: op by op
  bool isAot = false;    ///< the backend is one by name that compiles AOTAutograd's graphs
  Ref backend;           ///< a Python function that takes a GraphModule; null: Kerf runs the graph
};

/// A frame that starts: its code and what its variables are. Borrowed while it runs.
struct FrameView {
  PyCodeObject* code = nullptr;
  PyObject* globals = nullptr;
  PyObject* builtins = nullptr;
  PyObject* function = nullptr;
  PyObject** variables = nullptr;  ///< arguments; free variables are in the function's closure
};

/// One compiled form of a code object.
struct CacheEntry {
  GuardSet guards;
  Ref code;
  std::shared_ptr<std::int64_t> runs;  ///< of its entry in the log
  FrameOptions options{};              ///< that it was compiled with
};

struct ConvertResult {
  std::unique_ptr<CacheEntry> entry;  ///< null: the frame runs as it is
  bool failed = false;                ///< a Python exception is set (fullgraph)
};

/// `seen`: what earlier compilations of the same code met.
ConvertResult convertFrame(const FrameView& frame, const FrameOptions& options, FrameState& seen);

}  // namespace kerf::inline dynamo
