// A page of metrics that is being written. For metrics.cpp only.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trueup::api {

using Labels = std::vector<std::pair<std::string, std::string>>;

class MetricsPage {
  public:
    /// From now on every metric is of that policy; empty: of the process.
    void about(const std::string& policy);
    void gauge(const std::string& name, const std::string& help, double value,
               const Labels& labels = {});
    void counter(const std::string& name, const std::string& help, std::uint64_t value,
                 const Labels& labels = {});
    void histogram(const std::string& name, const std::string& help,
                   const std::vector<std::int64_t>& bounds_ms,
                   const std::vector<std::uint64_t>& counts, double sum);
    std::string text() const;

  private:
    prometheus::ClientMetric of_common(const Labels& labels) const;

    std::vector<prometheus::MetricFamily> page_;
    Labels common_;
};

}  // namespace trueup::api
