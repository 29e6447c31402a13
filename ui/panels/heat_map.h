// HeatMap: a plane of a tensor as a picture: deeper is larger, two colours for the two signs; NaN and infinities stand out.
#pragma once

#include <QImage>
#include <QWidget>

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

class HeatMap : public QWidget {
  Q_OBJECT

 public:
  explicit HeatMap(QWidget* parent = nullptr);
  void setPlane(const workbench::ValuePlane& plane, const workbench::ValueWindow& window);
  const QImage& image() const { return m_image; }
  /// Where a cell of the plane is drawn.
  QPointF pointAt(qint64 row, qint64 column) const;

 signals:
  /// By mouse, or with the arrow keys from the window that is shown.
  void cellPicked(qint64 row, qint64 column);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void draw();
  QRectF area() const;

  workbench::ValuePlane m_plane;
  workbench::ValueWindow m_window;
  QImage m_image;
};

}  // namespace kerf::ui::inline panels
