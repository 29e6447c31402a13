// Session: comparisons that are there again after a restart, from files.
#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QSaveFile>

#include "app/workbench/protocol/kept_comparison.h"
#include "ui/session/graph_state.h"
#include "ui/session/job_names.h"
#include "ui/session/session.h"

namespace kerf::ui::inline session {
namespace {

constexpr qint64 largestKept = 64 << 20;
constexpr qsizetype mostComparisons = 24;  ///< files
constexpr const char* keptPattern = "*.comparison";

std::string thisKerf() { return QCoreApplication::applicationVersion().toStdString(); }

/// The oldest go when there are too many.
bool writeKept(const QString& path, const workbench::KeptComparison& kept) {
  const auto bytes = workbench::keptBytes(kept);
  QDir folder(QFileInfo(path).path());
  if (qint64(bytes.size()) > largestKept || !folder.mkpath(".")) return false;
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes.data(), qint64(bytes.size())) != qint64(bytes.size()))
    return false;
  if (!file.commit()) return false;
  const auto all = folder.entryInfoList({keptPattern}, QDir::Files, QDir::Time);
  for (qsizetype i = mostComparisons; i < all.size(); ++i) QFile::remove(all[i].filePath());
  return true;
}

/// Null where there is none of the same Kerf, graph and file.
AccuracyDocPtr readKept(const QString& path, const workbench::KeptComparison& asked) {
  QFile file(path);
  if (file.size() > largestKept || !file.open(QIODevice::ReadOnly)) return nullptr;
  const auto bytes = file.readAll();
  auto kept = workbench::keptFrom({bytes.constData(), std::size_t(bytes.size())});
  if (!kept || kept->kerf != asked.kerf || kept->graph != asked.graph || kept->modified != asked.modified)
    return nullptr;
  auto doc = std::make_shared<AccuracyDoc>();
  static_cast<workbench::Comparison&>(*doc) = std::move(kept->comparison);
  doc->same = doc->good();
  doc->backend = kept->backend;
  doc->isOfBefore = true;
  doc->afterReading();
  return doc;
}

}  // namespace

void Session::keepComparisons(const QString& folder) { m_keepFolder = folder; }

void Session::comeBack(const QStringList& captures) {
  for (const auto& name : captures) m_comeBack.insert(name.toStdString());
}

/// Where the comparison of a graph is kept, and what it must be of. No path where none is kept: nothing keeps them, or the
/// graph is run in another way than usual.
std::pair<QString, workbench::KeptComparison> Session::keptPlace(const Key& where) const {
  const auto doc = capture(where.capture);
  const auto* known = state(where);
  if (m_keepFolder.isEmpty() || !doc || !known || !known->document || where.graph >= int(doc->graphs.size())) return {};
  if (!known->symbols.isEmpty() || known->inputs != InputsChoice()) return {};
  const auto named = doc->name + "\n" + doc->graphs[std::size_t(where.graph)].name + "\n" + where.aotStage;
  const auto file = QCryptographicHash::hash(QByteArray::fromStdString(named), QCryptographicHash::Sha1).toHex();
  workbench::KeptComparison asked{thisKerf(), known->document->hash, 0, {}, {}};
  if (!doc->isStored()) asked.modified = QFileInfo(text(doc->path)).lastModified().toMSecsSinceEpoch();
  return {QDir(m_keepFolder).filePath(QString::fromLatin1(file) + ".comparison"), asked};
}

void Session::keepComparison(const Key& where) {
  auto [path, kept] = keptPlace(where);
  const auto doc = path.isEmpty() ? nullptr : state(where)->accuracy;
  if (!doc || doc->running || !doc->error.isEmpty() || !doc->plant.isEmpty()) return;
  kept.backend = doc->backend;
  m_jobs.submit<bool>(
      jobKey("keep", where),
      [path = path, kept = std::move(kept), doc](std::stop_token) mutable {
        kept.comparison = *doc;
        return writeKept(path, kept);
      },
      [](bool) {}, JobQueue::Weight::Quiet);
}

/// Once for each graph that comes back.
void Session::findKeptComparison() {
  const auto where = key();
  const auto doc = capture(where.capture);
  if (!doc || !m_comeBack.contains(doc->name) || !state() || state()->accuracy) return;
  const auto [path, asked] = keptPlace(where);
  if (path.isEmpty() || !QFileInfo::exists(path)) return;
  m_jobs.submit<AccuracyDocPtr>(
      jobKey("kept", where), [path = path, asked = asked](std::stop_token) { return readKept(path, asked); },
      [this, where](const AccuracyDocPtr& kept) {
        auto* known = state(where);
        if (!kept || !known || known->accuracy) return;
        known->accuracy = kept;
        if (where == key()) emit accuracyChanged();
      },
      JobQueue::Weight::Quiet);
}

}  // namespace kerf::ui::inline session
