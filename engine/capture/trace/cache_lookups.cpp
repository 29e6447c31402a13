#include "engine/capture/trace/cache_lookups.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/ranges.h>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t mostComponents = 2000;   ///< of one key
constexpr std::size_t longestComponent = 100;  ///< bytes of a component's name
constexpr std::size_t namedInReason = 6;
constexpr std::array<std::string_view, 4> results{"hit", "miss", "bypass", "hash"};

/// "[v4wl…] example_inputs[0]: TensorMetadata(…)" is example_inputs[0] with that hash; other lines continue a text.
void takeComponent(std::string_view text, CacheLookup& lookup) {
  const std::size_t end = text.find("] ");
  if (!text.starts_with('[') || end == std::string_view::npos) return;
  const std::string_view rest = text.substr(end + 2);
  const std::string_view name = rest.substr(0, rest.find(": "));
  lookup.components.emplace_back(clippedText(firstLineOf(name), longestComponent),
                                 text.substr(1, std::min<std::size_t>(end - 1, 64)));
}

using Components = std::vector<std::pair<std::string, std::string>>;

std::string difference(const Components& now, const Components& before) {
  const std::multiset<std::pair<std::string, std::string>> known(before.begin(), before.end()),
      here(now.begin(), now.end());
  std::vector<std::string> names;
  std::set<std::string_view> noted;
  const auto note = [&](const std::string& name) {
    if (noted.insert(name).second) names.push_back(name);
  };
  for (const auto& component : now)
    if (!known.contains(component)) note(component.first);
  for (const auto& component : before)
    if (!here.contains(component)) note(component.first);
  if (names.empty()) return {};
  const std::size_t shown = std::min(names.size(), namedInReason);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), ", "));
  return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

struct Place {
  std::size_t compile = 0, lookup = 0;
};

}  // namespace

bool isCacheArtifact(std::string_view name) {
  const std::size_t mark = name.rfind("_cache_");
  return mark != std::string_view::npos && std::ranges::find(results, name.substr(mark + 7)) != results.end();
}

void takeCacheLookup(const StoryRecord& record) {
  const std::string& name = record.record.name;
  const std::size_t mark = name.rfind("_cache_");
  const std::string payload = record.payload();
  CacheLookup lookup;
  lookup.cache = name.substr(0, mark);
  lookup.result = name.substr(mark + 7);
  lookup.direction = record.direction;
  lookup.run = record.run();
  lookup.line = record.line();
  std::size_t bytes = 0;
  JsonWalker members(payload);
  while (members.nextMember()) {
    const std::string_view key = members.key(), value = members.value();
    if (jsonKeyIs(key, "key")) lookup.key = jsonText(value, 200);
    if (jsonKeyIs(key, "cache_bypass_reason")) lookup.reason = jsonText(value);
    if (jsonKeyIs(key, "cache_status_detailed")) lookup.detail = jsonText(value, 200);
    if (jsonKeyIs(key, "time_saved_ns"))
      if (const auto nanoseconds = jsonNumber(value)) lookup.savedSeconds = *nanoseconds / 1e9;
    if (!jsonKeyIs(key, "components")) continue;
    JsonWalker components(value);
    while (lookup.components.size() < mostComponents && components.nextElement())
      takeComponent(jsonString(components.value()).value_or(""), lookup);
  }
  for (const auto& [component, hash] : lookup.components) bytes += component.size() + hash.size() + 64;
  record.add(record.story.caches, std::move(lookup), bytes);
}

void explainMisses(CompileLog& log, const CaptureDetails& details) {
  std::map<std::string, Place> last;  // by cache, rank and frame; by cache and id over all ranks; backward apart
  for (std::size_t i = 0; i < log.compiles.size(); ++i) {
    const CompileEntry& entry = details.compiles[i];
    auto& caches = log.compiles[i].caches;
    for (std::size_t c = 0; c < caches.size(); ++c) {
      CacheLookup& lookup = caches[c];
      const std::string kind = lookup.cache + (lookup.direction == "backward" ? " backward " : " ");
      const std::string frame = fmt::format("{}rank {} {}", kind, entry.rank, entry.id.substr(0, entry.id.rfind('/')));
      const std::string everywhere = kind + entry.id;
      auto before = last.find(frame);
      if (before == last.end()) before = last.find(everywhere);
      if (lookup.result == "miss" && before != last.end()) {
        const Place place = before->second;
        const CacheLookup& other = log.compiles[place.compile].caches[place.lookup];
        const std::string names = difference(lookup.components, other.components);
        const CompileEntry& from = details.compiles[place.compile];
        const std::string rank = from.rank == entry.rank ? std::string() : fmt::format(" of rank {}", from.rank);
        if (!names.empty()) lookup.reason = fmt::format("not as {}{}: {}", from.id, rank, names);
        if (names.empty() && !lookup.key.empty() && lookup.key == other.key)
          lookup.reason = fmt::format("the key of {}{}, which was not found", from.id, rank);
      }
      last[frame] = {i, c};
      last.try_emplace(everywhere, Place{i, c});
    }
  }
}

}  // namespace kerf::inline capture::trace
