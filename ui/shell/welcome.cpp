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

#include "ui/shell/appearance.h"

namespace kerf::ui::inline shell {
namespace {

constexpr int mostShown = 6;

QLabel* label(const QString& text, const QString& name) {
  auto* made = new QLabel(text);
  made->setObjectName(name);
  made->setAlignment(Qt::AlignCenter);
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

Welcome::Welcome(QWidget* parent) : QWidget(parent), m_zone(buildDropZone()), m_recent(new QVBoxLayout) {
  setObjectName("welcome");
  setAttribute(Qt::WA_StyledBackground);
  auto* logo = new QLabel;
  logo->setPixmap(programIcon().pixmap(64, 64));
  logo->setAlignment(Qt::AlignCenter);
  auto* column = new QVBoxLayout;
  column->setSpacing(14);
  column->addStretch(2);
  column->addWidget(logo);
  column->addWidget(label(tr("Kerf Studio"), "welcomeTitle"));
  column->addWidget(
      label(tr("See what the compiler did to a graph, where it went wrong, and cut it down."), "welcomeHint"));
  column->addSpacing(10);
  column->addWidget(m_zone);
  column->addSpacing(10);
  m_recent->setSpacing(2);
  column->addLayout(m_recent);
  column->addStretch(3);
  auto* row = new QHBoxLayout(this);
  row->addStretch(1);
  row->addLayout(column);
  row->addStretch(1);
}

QFrame* Welcome::buildDropZone() {
  auto* zone = new QFrame;
  zone->setObjectName("dropZone");
  zone->setMinimumSize(560, 150);
  auto* column = new QVBoxLayout(zone);
  column->setContentsMargins(24, 24, 24, 22);
  column->setSpacing(16);
  column->addWidget(label(tr("Drop a repro.py, a minifier_launcher.py or a folder here"), "welcomeHint"));
  auto* row = new QHBoxLayout;
  row->setSpacing(10);
  auto* file = new QPushButton(tr("Open file…"));
  file->setObjectName("primary");
  auto* folder = new QPushButton(tr("Open folder…"));
  auto* sample = new QPushButton(tr("Open the sample"));
  sample->setVisible(!samplePath().isEmpty());
  row->addStretch(1);
  for (auto* button : {file, folder, sample}) row->addWidget(button);
  row->addStretch(1);
  column->addLayout(row);
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
    const QFileInfo file(path);
    auto* link =
        new QLabel(QString("<a href='%1' style='text-decoration:none'>%2</a>")
                       .arg(path.toHtmlEscaped(), (file.dir().dirName() + "/" + file.fileName()).toHtmlEscaped()));
    link->setTextFormat(Qt::RichText);
    link->setAlignment(Qt::AlignCenter);
    link->setToolTip(path);
    link->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(link, &QLabel::linkActivated, this, &Welcome::pathRequested);
    m_recent->addWidget(link);
  }
}

void Welcome::setHot(bool hot) {
  m_zone->setProperty("hot", hot);
  m_zone->style()->unpolish(m_zone);
  m_zone->style()->polish(m_zone);
}

}  // namespace kerf::ui::inline shell
