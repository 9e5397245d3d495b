#include "api/metrics_page.h"

#include <prometheus/text_serializer.h>

#include <limits>
#include <utility>

namespace trueup::api {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// A page has one kind of each name. A second kind, which only a policy's own names can have, is
/// left out: its value would be read as the first one's.
void add(std::vector<MetricFamily>& page, const std::string& name, const std::string& help,
         MetricType type, ClientMetric metric) {
    for (MetricFamily& known : page) {
        if (known.name != name) continue;
        if (known.type == type) known.metric.push_back(std::move(metric));
        return;
    }
    page.push_back({name, help, type, {std::move(metric)}});
}

ClientMetric labelled(const Labels& labels) {
    ClientMetric metric;
    for (const auto& [name, value] : labels) {
        ClientMetric::Label label;
        label.name = name;
        label.value = value;
        metric.label.push_back(label);
    }
    return metric;
}

}  // namespace

void MetricsPage::about(const std::string& policy) {
    common_.clear();
    if (!policy.empty()) common_.emplace_back("policy", policy);
}

void MetricsPage::gauge(const std::string& name, const std::string& help, double value,
                        const Labels& labels) {
    ClientMetric metric = of_common(labels);
    metric.gauge.value = value;
    add(page_, name, help, MetricType::Gauge, std::move(metric));
}

void MetricsPage::counter(const std::string& name, const std::string& help, std::uint64_t value,
                          const Labels& labels) {
    ClientMetric metric = of_common(labels);
    metric.counter.value = static_cast<double>(value);
    add(page_, name, help, MetricType::Counter, std::move(metric));
}

void MetricsPage::histogram(const std::string& name, const std::string& help,
                            const std::vector<std::int64_t>& bounds_ms,
                            const std::vector<std::uint64_t>& counts, double sum) {
    ClientMetric metric = of_common({});
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        total += counts[i];
        ClientMetric::Bucket bucket;
        bucket.cumulative_count = total;
        bucket.upper_bound = i < bounds_ms.size() ? static_cast<double>(bounds_ms[i]) / 1000.0
                                                  : std::numeric_limits<double>::infinity();
        metric.histogram.bucket.push_back(bucket);
    }
    metric.histogram.sample_count = total;
    metric.histogram.sample_sum = sum;
    add(page_, name, help, MetricType::Histogram, std::move(metric));
}

std::string MetricsPage::text() const { return prometheus::TextSerializer().Serialize(page_); }

ClientMetric MetricsPage::of_common(const Labels& labels) const {
    Labels all = common_;
    all.insert(all.end(), labels.begin(), labels.end());
    return labelled(all);
}

}  // namespace trueup::api
