// InspectorPanel: everything about the selected node, with links to its neighbours.
#pragma once

#include <QTextBrowser>

#include "ui/session/session.h"

namespace kerf::ui::inline panels {

class InspectorPanel : public QTextBrowser {
  Q_OBJECT

 public:
  explicit InspectorPanel(Session& session, QWidget* parent = nullptr);

 protected:
  void changeEvent(QEvent* event) override;
  QVariant loadResource(int type, const QUrl& name) override;

 private:
  void showNode();
  QString nodeHtml(const NodeDoc& node) const;
  QString graphHtml() const;
  QString compilationHtml(const CaptureDoc& capture) const;
  QString backwardHtml(const NodeDoc& node) const;
  QString accuracyHtml(const NodeDoc& node) const;
  QString placementHtml(const NodeDoc& node) const;
  QString valuesHtml(const NodeDoc& node) const;
  QString kernelHtml(const NodeDoc& node) const;
  QString symbolsHtml() const;
  QString guardsHtml() const;
  QString recordedHtml() const;
  /// The guards that the node asked for.
  QString nodeGuardsHtml(const NodeDoc& node) const;
  QString links(const std::vector<int>& nodes) const;

  Session& m_session;
};

}  // namespace kerf::ui::inline panels
