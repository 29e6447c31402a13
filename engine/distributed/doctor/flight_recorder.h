// Flight records: what a rank's process groups had issued when PyTorch dumped them ("nccl_trace_rank_0"). A pickle, of
// which plain containers are read and nothing is built, or JSON.
#pragma once

#include <map>

#include "engine/distributed/doctor/ranks_doctor.h"

namespace kerf::inline distributed::inline doctor {

struct FlightEntry {
  std::int64_t order = 0;                         ///< number of the record, or its place
  std::string group = {};                         ///< "0 (default_pg)"
  std::int64_t number = 0;                        ///< within the group; messages have numbers of their own
  std::string op = {}, operands = {};             ///< "all_reduce", "f32[4, 3]"
  std::string state = {};                         ///< "completed", "started", "scheduled"
  bool isMessage = false;                         ///< between two ranks
  std::optional<std::pair<int, int>> route = {};  ///< of a message: from, to, by ranks of the group
};

struct FlightLog {
  int rank = -1;
  std::string file;
  std::vector<FlightEntry> entries;
  std::map<std::string, std::vector<int>> groups;  ///< their members, where the record says
};

/// Files of a folder, not of those inside, that begin as a flight record does and have a rank in their names.
std::vector<std::filesystem::path> flightRecordsIn(const std::filesystem::path& folder);
/// Whether a file begins as a pickle of a dict does (of protocols 0 and 1: as dicts do), or as JSON with a record's keys.
bool isFlightRecord(const std::filesystem::path& path);
/// BadInput for what is no flight record, or is nested deeper than one; TooLarge for what has more values. The rank is that of the file's name.
Result<FlightLog> readFlightRecord(const std::filesystem::path& path, int rank);
/// The collectives of each group, and the messages of each pair of ranks, in one timeline; the first that does not meet, or
/// else the first that all have issued and that has not ended. Calls of one number (coalesced) are one collective. BadInput
/// where two records are of one rank.
Result<RanksDiagnosis> diagnoseFlights(const std::vector<FlightLog>& logs);

}  // namespace kerf::inline distributed::inline doctor
