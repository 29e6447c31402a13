// Session: the shown graph over a mesh of ranks: where each value is, and what moving it costs.
#include <algorithm>

#include <QRegularExpression>

#include "ui/session/graph_state.h"
#include "ui/session/job_names.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

/// Of "4", "2,2" and "2x2"; empty for what is no mesh.
std::vector<std::int64_t> meshSizes(const QString& mesh) {
  static const QRegularExpression form("^\\d{1,6}([,x]\\d{1,6})*$"), between("[,x]");
  std::vector<std::int64_t> sizes;
  if (!form.match(mesh.trimmed()).hasMatch()) return sizes;
  for (const auto& size : mesh.trimmed().split(between)) sizes.push_back(size.toLongLong());
  return sizes;
}

}  // namespace

const workbench::ShardedNodeDoc* ShardingDoc::find(const std::string& node) const {
  const auto found = index.find(node);
  return found == index.end() ? nullptr : &nodes[std::size_t(found->second)];
}

int ShardingDoc::kindOf(const std::string& node) const {
  const auto* known = find(node);
  if (known == nullptr || known->placements.empty()) return -1;
  return int(std::ranges::find(kinds, known->placements) - kinds.begin());
}

bool ShardingDoc::isReplicated(const std::string& placements) {
  return placements.find_first_not_of("[]R, ") == std::string::npos;
}

void ShardingDoc::afterReading() {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    index.emplace(nodes[i].name, int(i));
    const auto& placements = nodes[i].placements;
    if (!placements.empty() && std::ranges::find(kinds, placements) == kinds.end()) kinds.push_back(placements);
  }
}

ShardingDocPtr Session::sharding() const {
  const bool asCaptured = m_location.stage == Location::Stage::Captured && m_location.body.empty();
  return asCaptured && state() ? state()->sharding : nullptr;
}

void Session::shard(const QString& mesh, const QString& placements) {
  auto* known = state();
  if (!known || (known->sharding && known->sharding->running)) return;
  const auto asked = std::make_shared<ShardingDoc>();
  asked->askedMesh = mesh;
  asked->askedPlacements = placements;
  const auto sizes = meshSizes(mesh);
  if (sizes.empty()) {
    asked->error = tr("\"%1\" is no mesh: give sizes such as 4 or 2,2").arg(mesh);
    known->sharding = asked;
    return void(emit shardingChanged());
  }
  asked->running = true;
  known->sharding = asked;
  workbench::ShardRequest request{address(key()), sizes};
  static const QRegularExpression between("[\\s;]+");
  request.placements = plainTexts(placements.split(between, Qt::SkipEmptyParts));
  m_jobs.submit<Result<workbench::ShardedGraphDoc>>(
      jobKey("shard", key()),
      [worker = m_workers.forJob(), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, where = key(), asked = *asked](Result<workbench::ShardedGraphDoc> result) {
        auto* target = state(where);
        if (!target) return;
        auto doc = std::make_shared<ShardingDoc>(asked);
        doc->running = false;
        if (result) static_cast<workbench::ShardedGraphDoc&>(*doc) = std::move(*result);
        if (!result && !cancelled(result.error())) doc->error = windowText(result.error());
        doc->afterReading();
        target->sharding = !result && cancelled(result.error()) ? nullptr : doc;
        if (where == key()) emit shardingChanged();
      });
  emit shardingChanged();
}

void Session::cancelShard() { m_jobs.stop(jobKey("shard", key())); }

}  // namespace kerf::ui::inline session
