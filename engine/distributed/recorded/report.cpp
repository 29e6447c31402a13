#include "engine/distributed/recorded/report.h"

namespace kerf::inline distributed::inline recorded {

void RanksReport::note(const std::string& id, RanksField field, const std::string& difference) {
  RanksTally& tally = fields[std::size_t(field)];
  ++tally.asked;
  if (difference.empty())
    ++tally.equal;
  else
    differences.push_back({id, std::string(ranksFieldNames[std::size_t(field)]), difference});
}

}  // namespace kerf::inline distributed::inline recorded
