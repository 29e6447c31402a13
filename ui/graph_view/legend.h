// Legend: one line below the graph that says what its colours mean, and covers nothing of it.
#pragma once

#include <vector>

#include <QColor>
#include <QString>
#include <QWidget>

namespace kerf::ui::inline graph_view {

class GraphWidget;
struct Scene;
struct ViewState;

struct LegendEntry {
  QColor color;
  QString label;
};

/// What there is to tell apart in the scene as it is drawn now.
std::vector<LegendEntry> legendEntries(const Scene& scene, const ViewState& state);

class Legend : public QWidget {
 public:
  explicit Legend(GraphWidget& view, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {1, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void refresh();

  GraphWidget& m_view;
  std::vector<LegendEntry> m_entries;
};

}  // namespace kerf::ui::inline graph_view
