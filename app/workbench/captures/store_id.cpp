#include "app/workbench/captures/store_id.h"

#include <regex>

namespace kerf::workbench {

namespace {

const std::regex& pattern() {
  static const std::regex expression(R"(([cmp])(\d{1,15})(?:/(g|r|slip)(\d{1,9}))?(?:@(pass|step):(.+))?)");
  return expression;
}

}  // namespace

std::optional<StoreId> parseStoreId(const std::string& text) {
  std::smatch match;
  if (text.size() > 4096 || !std::regex_match(text, match, pattern())) return std::nullopt;
  StoreId id{match[1].str()[0], std::stoll(match[2].str()), 0, 0, 0, match[5].str(), match[6].str()};
  const std::string part = match[3].str();
  if (!part.empty()) (part == "g" ? id.graph : part == "r" ? id.record : id.slip) = std::stoi(match[4].str());
  const bool selects = id.record == 0 && id.slip == 0 &&
                       ((id.kind == 'c' && id.selector == "pass") || (id.kind == 'm' && id.selector == "step"));
  const char owner = part == "slip" ? 'm' : 'c';
  if ((!part.empty() && id.kind != owner) || (part == "slip" && id.slip == 0) || (!id.selector.empty() && !selects))
    return std::nullopt;
  return id;
}

}  // namespace kerf::workbench
