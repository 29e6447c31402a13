#include "engine/distributed/recorded/report.h"

#include "engine/distributed/group/in_process.h"

namespace kerf::inline distributed::inline recorded {

std::vector<Result<void>> RecordedWorld::run(int count, const RankBody& body) const {
  return start ? start(count, body) : runRanks(count, body);
}

void RanksReport::note(const std::string& id, RanksField field, const std::string& difference) {
  RanksTally& tally = fields[std::size_t(field)];
  ++tally.asked;
  if (difference.empty())
    ++tally.equal;
  else
    differences.push_back({id, std::string(ranksFieldNames[std::size_t(field)]), difference});
}

bool RanksReport::ran(const std::string& id, bool isRefused, const Result<void>& outcome,
                      const std::function<std::string()>& refusalDifference) {
  if (isRefused)
    note(id, RanksField::Refusals, outcome ? refusalDifference() : std::string());
  else if (!outcome)
    note(id, RanksField::Values, "fails: " + outcome.error().text());
  return !isRefused && outcome;
}

}  // namespace kerf::inline distributed::inline recorded
