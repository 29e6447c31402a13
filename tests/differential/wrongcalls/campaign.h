// Wrong calls of many overloads, checked in child processes, and what was found.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/support/fields.h"
#include "engine/support/result.h"

namespace kerf::wrongcalls {

struct WrongCallOptions {
  std::uint64_t seed = 1;
  int calls = 6;                  ///< of each overload
  std::vector<std::string> only;  ///< parts of overloads' names; empty: all
  int acceptedEvery = 16;         ///< one of so many calls that the interpreter takes is compiled, too; 0: none
  double secondsPerChunk = 60;
  std::int64_t memoryBytes = 2LL << 30;  ///< that a child may add to what it inherited
};

struct WrongCallReport {
  std::int64_t calls = 0, refused = 0, compiled = 0;
  std::vector<std::string> problems;          ///< each with its call
  std::vector<std::string> withoutValidCall;  ///< overloads that no valid call was drawn for

  KERF_FIELDS(calls, refused, compiled, problems, withoutValidCall)
};

/// The overloads of the table that are called: all but nested graphs' and planted faults'.
Result<WrongCallReport> runWrongCalls(const WrongCallOptions& options);

/// The calls of the campaign as lines of JSON, each with what the interpreter says.
Result<void> writeWrongCalls(const WrongCallOptions& options, const std::string& path);

/// Calls as lines of JSON beside what PyTorch said to each of them: a line for every call on which Kerf decides
/// otherwise.
Result<std::vector<std::string>> compareWithRecorded(const std::string& calls, const std::string& answers);

}  // namespace kerf::wrongcalls
