// Welcome: what the window shows while nothing is open: where to drop a file, what was open last, and the store.
#pragma once

#include <QWidget>

class QFrame;
class QVBoxLayout;

namespace kerf::ui::inline shell {

class Welcome : public QWidget {
  Q_OBJECT

 public:
  /// `store`: a view of what the store holds.
  explicit Welcome(QWidget* store, QWidget* parent = nullptr);
  void setRecent(const QStringList& paths);
  /// Marks the drop zone while a file hovers over the window.
  void setHot(bool hot);
  /// Path of the bundled sample; empty if it is not installed.
  static QString samplePath();

 signals:
  void openFileRequested();
  void openFolderRequested();
  void pathRequested(const QString& path);

 private:
  QFrame* buildDropZone();

  QFrame* m_zone;
  QVBoxLayout* m_recent;
};

}  // namespace kerf::ui::inline shell
