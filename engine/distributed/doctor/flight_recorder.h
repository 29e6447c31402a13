// Flight records: what a rank's process groups had issued when PyTorch dumped them ("nccl_trace_rank_0"). A pickle, of
// which plain containers are read and nothing is built.
#pragma once

#include <map>

#include "engine/distributed/doctor/ranks_doctor.h"

namespace kerf::inline distributed::inline doctor {

struct FlightEntry {
  std::int64_t order = 0;    ///< number of the record, or its place
  std::string group;         ///< "0 (default_pg)"
  std::int64_t number = 0;   ///< within the group
  std::string op, operands;  ///< "all_reduce", "f32[4, 3]"
  std::string state;         ///< "completed", "started", "scheduled"
  /// As ranks are compared: sizes are left out where ranks may have others.
  std::string text() const;
};

struct FlightLog {
  int rank = -1;
  std::vector<FlightEntry> entries;                ///< collectives; messages between two ranks are left out
  std::map<std::string, std::vector<int>> groups;  ///< their members, where the record says
};

/// Whether a file begins as a pickle does.
bool isFlightRecord(const std::filesystem::path& path);
/// BadInput for what is no flight record. The rank is that of the file's name.
Result<FlightLog> readFlightRecord(const std::filesystem::path& path, int rank);
/// The collectives of each group in one timeline, and the first that does not meet.
RanksDiagnosis diagnoseFlights(const std::vector<FlightLog>& logs);

}  // namespace kerf::inline distributed::inline doctor
