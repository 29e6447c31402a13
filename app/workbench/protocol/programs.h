// Programs: Python scripts that run on Kerf's engine, in the sandbox.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/workbench/protocol/job.h"
#include "engine/support/error.h"

namespace kerf::workbench {

/// How a program ended, and what it printed.
struct ProgramDoc {
  std::string path;
  std::string output, errors;  ///< standard output; standard error with the traceback that ended it
  int exitStatus = 0;
  std::string exception;  ///< "ValueError: no"; empty where none ended it
  std::int64_t line = 0;  ///< of the program, where the exception was raised
  bool isOutputCut = false;
  std::string
      captured;  ///< JSON: frames, graphs, breaks, recompiles of what torch.compile made; empty where it was not asked
  std::string capture;  ///< where it is stored, "c7"; empty: nothing was compiled, or the store cannot be written
  std::chrono::nanoseconds time{};
  /// By rank, where the program ran as several: the fields above are those of rank 0, and `exitStatus` is that of the
  /// first rank that failed.
  std::vector<ProgramDoc> ranks;

  KERF_FIELDS(path, output, errors, exitStatus, exception, line, isOutputCut, captured, capture, time, ranks)
};

/// Most ranks that a program runs as.
inline constexpr std::int64_t mostProgramRanks = 64;

struct CaptureProgramRequest {
  using Answer = ProgramDoc;
  static constexpr std::string_view name = "capture_program";
  std::string path;
  std::chrono::milliseconds timeout{60'000};
  std::int64_t memoryBytes = 8LL << 30;
  /// In place of what the program gives torch.compile; empty: as the program says.
  std::string backend;
  std::string dynamic;  ///< "true", "false", or "auto": sizes become symbols when they differ
  bool fullgraph = false;
  std::int64_t ranks = 1;  ///< the program runs so often, each time as another rank of one world; they share the memory

  KERF_FIELDS(path, timeout, memoryBytes, backend, dynamic, fullgraph, ranks)
};

/// Whether a file was refused because it is Python without a captured graph: once it runs, it may have some.
inline bool mayBeProgram(const Error& error) {
  return error.code == ErrorCode::BadInput && error.message.find("captured graph") != std::string::npos;
}

/// One instruction of a code object.
struct ProgramInstruction {
  std::int64_t offset = 0;  ///< bytes
  std::int64_t line = 0;    ///< of the program; 0: none
  std::string name, argument;
  bool isTarget = false;  ///< a jump or a handler leads here

  KERF_FIELDS(offset, line, name, argument, isTarget)
};

/// What must hold for a compiled frame to be used again.
struct ProgramGuard {
  std::string kind, source;  ///< "TENSOR_MATCH", "L['x']"; no source: of the state of torch
  std::string value;         ///< what is checked, "L['n'] == 3"
  std::string where;         ///< line that asked for it, "bug.py:3 in f"
  double nanoseconds = -1;   ///< that one check takes; -1: not measured

  KERF_FIELDS(kind, source, value, where, nanoseconds)
};

/// One compiled form of a code object.
struct ProgramFrame {
  std::string id;                  ///< "[0/1]": number of the code object, and how often it had been compiled before
  std::string name, at;            ///< "f", "bug.py:9"
  std::int64_t line = 0;           ///< where it begins, in the program's file; 0: elsewhere
  std::int64_t runs = 0;           ///< how often it ran
  double milliseconds = -1;        ///< that compiling it took; -1: not measured
  std::string because;             ///< why it was compiled again: the guard that failed; empty: it is the first
  std::vector<std::string> calls;  ///< "__compiled_fn_1", "__resume_at_66_3"
  std::vector<int> graphs;         ///< indices in the report's graphs
  std::vector<ProgramGuard> guards;
  std::vector<ProgramInstruction> original, modified;  ///< bytecode as it was written, and as it runs

  KERF_FIELDS(id, name, at, line, runs, milliseconds, because, calls, graphs, guards, original, modified)
};

/// Where a graph ended before its frame did, or why a frame was not compiled.
struct ProgramBreak {
  std::string type, id;  ///< as PyTorch's registry names and numbers it ("GB0124"); no number where it is not known
  std::string explanation, context;
  std::vector<std::string> hints;  ///< what to do
  std::vector<std::string> stack;  ///< "bug.py:3 in f", outermost first
  std::int64_t line = 0;           ///< innermost one in the program's file; 0: none
  int frame = -1;                  ///< index in the report's frames; -1: none
  bool isSkip = false;             ///< the frame ran as it was written

  KERF_FIELDS(type, id, explanation, context, hints, stack, line, frame, isSkip)
};

struct ProgramRecompile {
  std::string function, at, guard;  ///< guard: what failed
  std::int64_t line = 0;            ///< where the function begins, in the program's file; 0: elsewhere
  int frame = -1;                   ///< index of what was compiled then; -1: nothing

  KERF_FIELDS(function, at, guard, line, frame)
};

/// A node of a captured graph and the lines of the program that it stems from.
struct ProgramNode {
  std::string name;
  std::vector<std::int64_t> lines;  ///< in the program's file, outermost first

  KERF_FIELDS(name, lines)
};
struct ReportedGraph {
  std::string name, ranBy;  ///< "__compiled_fn_1"; "eager", "inductor"
  int frame = -1;           ///< index in the report's frames
  int stored = -1;          ///< index in the capture's graphs; -1: it is not kept
  std::vector<ProgramNode> nodes;

  KERF_FIELDS(name, ranBy, frame, stored, nodes)
};

/// What torch.compile made of a program, for whoever reads it beside its source.
struct ProgramReport {
  std::string capture, path;  ///< "c7"; the program's file
  std::string source;         ///< the text that ran
  std::string output, errors, exception;
  std::int64_t exitStatus = 0, line = 0;  ///< line: where the exception was raised; 0: none
  std::vector<ProgramFrame> frames;
  std::vector<ProgramBreak> breaks;  ///< with the frames that were skipped, at the end
  std::vector<ProgramRecompile> recompiles;
  std::vector<ReportedGraph> graphs;
  std::vector<std::string> notes;

  KERF_FIELDS(capture, path, source, output, errors, exception, exitStatus, line, frames, breaks, recompiles, graphs,
              notes)
};

/// Of a stored capture of kind "program". BadUsage for one of another kind, NotFound where it was stored by a Kerf that
/// kept only graphs.
struct ProgramReportRequest {
  using Answer = ProgramReport;
  static constexpr std::string_view name = "program_report";
  std::string capture;  ///< "c7"

  KERF_FIELDS(capture)
};

}  // namespace kerf::workbench
