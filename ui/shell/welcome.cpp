#include "ui/shell/welcome.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/shell/appearance.h"

namespace kerf::ui::inline shell {
namespace {

constexpr int mostShown = 8;

QLabel* label(const QString& text, const QString& name) {
  auto* made = new QLabel(text);
  made->setObjectName(name);
  made->setWordWrap(true);
  made->setMinimumWidth(1);
  return made;
}

}  // namespace

QString Welcome::samplePath() {
  const QString name = "/mlp8/minifier_launcher.py";
  const auto program = QCoreApplication::applicationDirPath();
  for (const auto& folder : {QString(KERF_SAMPLES_DIR), program + "/../share/kerf/samples"})
    if (QFileInfo::exists(folder + name)) return QDir::cleanPath(folder + name);
  return {};
}

Welcome::Welcome(QWidget* store, QWidget* parent)
    : QWidget(parent), m_zone(buildDropZone()), m_recent(new QVBoxLayout) {
  setObjectName("welcome");
  setAttribute(Qt::WA_StyledBackground);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);  // what takes its place may be narrower
  auto* logo = new QLabel;
  logo->setPixmap(programIcon().pixmap(44, 44));
  auto* words = new QVBoxLayout;
  words->setSpacing(1);
  words->addWidget(label(tr("Kerf Studio"), "welcomeTitle"));
  words->addWidget(
      label(tr("See what the compiler did to a graph, where it went wrong, and cut it down."), "welcomeHint"));
  auto* head = new QHBoxLayout;
  head->setSpacing(14);
  head->addWidget(logo);
  head->addLayout(words, 1);
  m_recent->setSpacing(2);
  auto* left = new QVBoxLayout;
  left->setSpacing(12);
  left->addWidget(m_zone);
  left->addLayout(m_recent);
  left->addStretch(1);
  auto* right = new QVBoxLayout;
  right->setSpacing(6);
  right->addWidget(label(tr("STORE"), "welcomeSection"));
  store->setObjectName("storeFrame");
  store->setAttribute(Qt::WA_StyledBackground);
  store->setContentsMargins(1, 1, 1, 1);
  right->addWidget(store, 1);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(28);
  columns->addLayout(left, 2);
  columns->addLayout(right, 5);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(32, 24, 32, 24);
  column->setSpacing(20);
  column->addLayout(head);
  column->addLayout(columns, 1);
}

QFrame* Welcome::buildDropZone() {
  auto* zone = new QFrame;
  zone->setObjectName("dropZone");
  zone->setMinimumWidth(230);
  auto* column = new QVBoxLayout(zone);
  column->setContentsMargins(16, 14, 16, 16);
  column->setSpacing(10);
  column->addWidget(label(tr("Drop a repro, a log or a folder here, or paste a graph (Ctrl+V)"), "welcomeHint"));
  auto* file = new QPushButton(tr("Open file…"));
  file->setObjectName("primary");
  auto* folder = new QPushButton(tr("Open folder…"));
  auto* sample = new QPushButton(tr("Open the sample"));
  sample->setVisible(!samplePath().isEmpty());
  for (auto* button : {file, folder, sample}) column->addWidget(button);
  connect(file, &QPushButton::clicked, this, &Welcome::openFileRequested);
  connect(folder, &QPushButton::clicked, this, &Welcome::openFolderRequested);
  connect(sample, &QPushButton::clicked, this, [this] { emit pathRequested(samplePath()); });
  return zone;
}

void Welcome::setRecent(const QStringList& paths) {
  while (auto* item = m_recent->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  if (paths.isEmpty()) return;
  auto* heading = label(tr("RECENT"), "welcomeSection");
  m_recent->addWidget(heading);
  for (const auto& path : paths.mid(0, mostShown)) {
    auto* link = new QPushButton(nameWithFolder(path));
    link->setObjectName("recentLink");
    link->setAccessibleName(tr("Open %1").arg(path));
    link->setToolTip(path);
    connect(link, &QPushButton::clicked, this, [this, path] { emit pathRequested(path); });
    m_recent->addWidget(link);
  }
}

void Welcome::setHot(bool hot) {
  m_zone->setProperty("hot", hot);
  m_zone->style()->unpolish(m_zone);
  m_zone->style()->polish(m_zone);
}

}  // namespace kerf::ui::inline shell
