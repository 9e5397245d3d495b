#include "engine/codec/settings_codec.h"

#include "engine/codec/message.h"
#include "engine/codec/policy_codec.h"
#include "trueup/v1/journal.pb.h"

#include <google/protobuf/util/json_util.h>

namespace trueup::codec {

namespace {

Error broken(std::string_view what) { return {Next::kStop, Code::kCorrupt, std::string(what)}; }

bool complete(const v1::Settings& m) {
    return m.has_policy() && m.has_max_clock_step_ms() && m.has_max_broker_skew_ms() &&
           m.has_stale_after_ms() && m.has_command_ttl_ms() && m.has_emit_again_ms() &&
           m.has_max_outbox() && m.has_sweep_step() && m.has_max_drop_percent() && m.has_logic() &&
           m.has_max_clock_skew_ms() && m.has_reconcile_every_ms();
}

bool read_source(const v1::SourceSettings& m, SourceSettings& out) {
    if (m.topic() < v1::TOPIC_CHANGES_PODS || m.topic() > v1::TOPIC_CHANGES_RESOURCES) return false;
    out.name = m.name();
    out.topic = static_cast<Topic>(m.topic());
    out.role = m.has_role() ? static_cast<Role>(m.role()) : kNoRole;
    out.scope = m.scope();
    out.at_least = m.at_least();
    out.selects = m.selects();
    out.mapping = m.mapping();
    return !out.name.empty() && m.role() < kNoRole && m.has_at_least();
}

bool read_rule(const v1::RuleSettings& m, RuleSettings& out) {
    if (m.mode() == v1::MODE_UNSPECIFIED || !v1::Mode_IsValid(m.mode())) return false;
    out.rule = m.rule();
    out.mode = static_cast<Mode>(m.mode());
    out.grace = Millis(m.grace_ms());
    out.create_window = Millis(m.create_window_ms());
    if (m.has_grace_period_seconds()) out.grace_period = m.grace_period_seconds();
    out.budget = {m.budget_max(), m.budget_percent(), Millis(m.budget_window_ms())};
    return !out.rule.empty() && m.has_grace_ms() && m.has_create_window_ms() &&
           m.has_budget_max() && m.has_budget_percent() && m.budget_window_ms() > 0;
}

bool read_window(const v1::Window& m, Window& out) {
    constexpr std::uint32_t kEveryDay = 0x7f;
    constexpr std::uint32_t kDay = 24 * 60;
    out = {static_cast<std::uint8_t>(m.days()), static_cast<std::uint16_t>(m.from_minute()),
           static_cast<std::uint16_t>(m.to_minute())};
    return m.days() != 0 && m.days() <= kEveryDay && m.from_minute() < m.to_minute() &&
           m.to_minute() <= kDay;
}

void read_limits(const v1::Settings& m, Settings& settings) {
    settings.max_clock_skew = Millis(m.max_clock_skew_ms());
    settings.reconcile_every = Millis(m.reconcile_every_ms());
    settings.max_clock_step = Millis(m.max_clock_step_ms());
    settings.max_broker_skew = Millis(m.max_broker_skew_ms());
    settings.stale_after = Millis(m.stale_after_ms());
    settings.command_ttl = Millis(m.command_ttl_ms());
    settings.emit_again = Millis(m.emit_again_ms());
    settings.max_outbox = m.max_outbox();
    settings.sweep_step = m.sweep_step();
    settings.max_drop_percent = m.max_drop_percent();
}

void write_source(const SourceSettings& source, v1::SourceSettings& out) {
    out.set_name(source.name);
    out.set_topic(static_cast<v1::Topic>(source.topic));
    if (source.role != kNoRole) out.set_role(source.role);
    if (!source.scope.empty()) out.set_scope(source.scope);
    out.set_at_least(source.at_least);
    if (!source.selects.empty()) out.set_selects(source.selects);
    if (source.mapping != 0) out.set_mapping(source.mapping);
}

void write_rule(const RuleSettings& rule, v1::RuleSettings& out) {
    out.set_rule(rule.rule);
    out.set_mode(static_cast<v1::Mode>(rule.mode));
    out.set_grace_ms(rule.grace.count());
    out.set_create_window_ms(rule.create_window.count());
    out.set_budget_max(rule.budget.max);
    out.set_budget_percent(rule.budget.percent);
    out.set_budget_window_ms(rule.budget.window.count());
    if (rule.grace_period) out.set_grace_period_seconds(*rule.grace_period);
}

void write_window(const Window& window, v1::Window& out) {
    out.set_days(window.days);
    out.set_from_minute(window.from);
    out.set_to_minute(window.to);
}

}  // namespace

std::string encode_genesis(const Genesis& genesis) {
    v1::Genesis m;
    m.set_journal_id(to_hex(genesis.journal_id));
    m.set_partitions(genesis.partitions);
    m.set_shard(genesis.shard.value());
    return m.SerializeAsString();
}

Result<Genesis> decode_genesis(std::string_view bytes) {
    v1::Genesis m;
    Genesis genesis;
    if (!parse(bytes, m) || !read_id(m.journal_id(), genesis.journal_id)) {
        return broken("the genesis names no journal");
    }
    if (!m.has_shard() || m.shard() < 0 || m.shard() >= m.partitions()) {
        return broken("the genesis names no shard of its partitions");
    }
    genesis.partitions = m.partitions();
    genesis.shard = PartitionNumber(m.shard());
    return genesis;
}

std::string encode_settings(const Settings& settings) {
    v1::Settings m;
    m.set_logic(settings.logic);
    m.set_policy(settings.policy);
    if (settings.text) m.mutable_text()->ParseFromString(encode_policy(*settings.text));
    for (const SourceSettings& source : settings.sources) write_source(source, *m.add_sources());
    for (const RuleSettings& rule : settings.rules) write_rule(rule, *m.add_rules());
    m.set_max_clock_step_ms(settings.max_clock_step.count());
    m.set_max_broker_skew_ms(settings.max_broker_skew.count());
    m.set_stale_after_ms(settings.stale_after.count());
    m.set_command_ttl_ms(settings.command_ttl.count());
    m.set_emit_again_ms(settings.emit_again.count());
    m.set_max_outbox(settings.max_outbox);
    m.set_sweep_step(settings.sweep_step);
    m.set_max_clock_skew_ms(settings.max_clock_skew.count());
    m.set_reconcile_every_ms(settings.reconcile_every.count());
    for (const Window& window : settings.windows) write_window(window, *m.add_windows());
    m.set_max_drop_percent(settings.max_drop_percent);
    for (const Hash128& text : settings.enabled) m.add_enabled(to_hex(text));
    if (!settings.enabled_by.empty()) m.set_enabled_by(settings.enabled_by);
    return m.SerializeAsString();
}

Result<Settings> decode_settings(std::string_view bytes) {
    v1::Settings m;
    if (!parse(bytes, m)) return broken("the bytes are not settings");
    if (!complete(m)) return broken("the settings lack a field that this build needs");
    if (!m.has_text()) {
        return broken(
            "the settings have no policy: they were written by a preview build; begin a new "
            "journal");
    }
    Settings settings;
    settings.policy = m.policy();
    Result<policy::Policy> text = decode_policy(m.text().SerializeAsString());
    if (!text) return text.error();
    settings.text = std::move(*text);
    for (const v1::SourceSettings& source : m.sources()) {
        if (!read_source(source, settings.sources.emplace_back())) {
            return broken("the settings name a source or a topic that this build does not know");
        }
    }
    for (const v1::RuleSettings& rule : m.rules()) {
        if (!read_rule(rule, settings.rules.emplace_back())) {
            return broken("the settings hold a rule or a mode that this build does not know");
        }
    }
    for (const v1::Window& window : m.windows()) {
        if (!read_window(window, settings.windows.emplace_back())) {
            return broken("the settings hold a window that never opens");
        }
    }
    for (const std::string& hex : m.enabled()) {
        const std::optional<Hash128> read = hash_from_hex(hex);
        if (!read) return broken("the settings enable what is no rule's hash");
        settings.enabled.push_back(*read);
    }
    settings.enabled_by = m.enabled_by();
    settings.logic = m.logic();
    read_limits(m, settings);
    return settings;
}

std::string settings_json(const Settings& settings) {
    v1::Settings m;
    m.ParseFromString(encode_settings(settings));
    std::string json;
    google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = true;
    // What is told is made here: there is nothing in it that has no JSON.
    (void)google::protobuf::util::MessageToJsonString(m, &json, options);
    return json;
}

Result<Settings> settings_of_json(std::string_view json) {
    v1::Settings m;
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;  // of a later release
    const auto read = google::protobuf::util::JsonStringToMessage(
        google::protobuf::StringPiece(json.data(), json.size()), &m, options);
    if (!read.ok()) return broken("the text is no settings as JSON");
    return decode_settings(m.SerializeAsString());
}

}  // namespace trueup::codec
