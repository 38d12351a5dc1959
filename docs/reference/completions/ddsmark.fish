# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ddsmark_global_optspecs
    string join \n h/help V/version
end

function __fish_ddsmark_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_ddsmark_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_ddsmark_using_subcommand
    set -l cmd (__fish_ddsmark_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c ddsmark -n "__fish_ddsmark_needs_command" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -s V -l version -d 'Print version'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "characterize" -d 'Measure latency and throughput over sample sizes, with and without batching'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "run" -d 'Measure an experiment file or a recipe'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "selftest" -d 'Determine the noise floor of this host: measure the same configuration twice in every block'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "recipes" -d 'Show the recipes: experiment files that come with ddsmark'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "report" -d 'Print the tables of a result'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "compare" -d 'Compare two results, two cells of one result, or two variants that are measured now'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "drivers" -d 'Show, install and check drivers'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "generate" -d 'Generate completions, man pages and the reference of this command'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l driver -d 'Driver to measure: a name, `NAME@VERSION`, `WRITER+READER` for different drivers of writer and reader, or the path of a file. Can be repeated. By default one driver of each name, without simulations' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l size -d 'Payload size in bytes, including the 16-byte sample header. Can be repeated' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l workload -d 'Workload to measure. Can be repeated' -r -f -a "latency\t''
throughput\t''"
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l batch-bytes -d 'Also measure throughput with batches of at most this many payload bytes; 0 disables it' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l reliability -d 'Reliability to request' -r -f -a "strongest\t'The strongest kind that each driver supports'
reliable\t'Reliable delivery; rejected for a driver that does not support it'
best-effort\t'Best effort: samples may be lost'"
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l receive -d 'Receive mode' -r -f -a "waitset\t''
polling\t''
listener\t''"
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l polling-delay -d 'Sleep time of a polling reader after it found no sample, `1us` to `100ms`; for `--receive polling`. By default it does not sleep' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l interface -d 'Network interface to use' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l transport -d 'Transport to use. By default the first transport of each driver' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l option -d 'Set an option of a driver; `ddsmark drivers info D` lists them. Can be repeated' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l runs -d 'Number of runs of each cell, at least 3. By default 3; with `--precise` 10' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l duration -d 'Measured time of each run, 20 ms to 1 hour, such as `800ms` or `5s`. By default `800ms`' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l warm-up -d 'Warm-up of each run, 0 to 10 minutes: the same traffic, not recorded. By default `200ms`' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l check-every -d 'Check every byte of each Nth sample; of the other samples, only the header' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l seed -d 'Seed of the run order and the payload. By default from the clock. Recorded in the result' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l match-timeout -d 'Time limit for writer and reader to match. By default `10s`' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l pin -d 'CPU cores of the two endpoints of each run: `auto` (half of the available cores for each; a single core is not pinned), `none`, or the cores of writer and reader, such as `0,1` or `0-3,4-7`. Recorded in the result' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l out -d 'Directory for the result, new or empty. By default `results/NAME-TIME`' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l multicast -d 'Send data by multicast. By default data is sent by unicast'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l vendor-defaults -d 'Run each middleware as shipped: without the driver\'s own tuning and without queue sizes'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l quick -d 'Take a first look: 3 runs of 200 ms each, with 50 ms of warm-up'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l precise -d 'Measure values to quote: 10 runs of 5 s each, with 1 s of warm-up'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l keep-awake -d 'Keep the cores from idling with spinning threads of the lowest priority. Recorded in the result'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l no-reference -d 'Disable the reference, the round-trip time and rate of a bare UDP socket, before and after each block'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l json -d 'Print the whole result as JSON instead of tables'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l resume -d 'Resume the interrupted experiment in this result directory, after Ctrl-C, a crash or a reboot. Also resumes `characterize`' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l set -d 'Override a value in the experiment file, such as `factors.size=64,1024`. Can be repeated' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l out -d 'Directory for the result, new or empty. By default `results/NAME-TIME`' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l force -d 'Resume although drivers, libraries or the host have changed. The result records the changes'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l duet -d 'Make each run at the same time as a run of its baseline, each on half of the cores, swapped in every block. Same as `--set design.duet=true`'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l vendor-defaults -d 'Run each middleware as shipped, without the driver\'s own tuning. Same as `--set factors.vendor_defaults=true`; measure both with `--set factors.vendor_defaults=false,true`'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l dry-run -d 'Print the plan without measuring: cells, blocks, runs, expected duration, and the minimum detectable effect if a selftest of this host is stored'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l no-reference -d 'Disable the reference, the round-trip time and rate of a bare UDP socket, before and after each block'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l json -d 'Print the whole result as JSON instead of tables'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l driver -d 'Driver to measure with: a name, `NAME@VERSION`, or the path of a file. By default `udp`, the bare socket' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l pairs -d 'Number of pairs of runs of each cell, 8 to 1000. Fewer pairs cannot show a difference' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l seed -d 'Seed of the run order and the payload. By default from the clock. Recorded in the result' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l out -d 'Directory for the result, new or empty. By default `results/NAME-TIME`' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l quick -d 'Take a first look: 8 pairs of short runs, under a minute. By default 20 pairs, about four minutes'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l no-reference -d 'Disable the reference, the round-trip time and rate of a bare UDP socket, before and after each block'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l json -d 'Print the whole result as JSON instead of tables'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and not __fish_seen_subcommand_from list show help" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and not __fish_seen_subcommand_from list show help" -f -a "list" -d 'List all recipes and their questions'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and not __fish_seen_subcommand_from list show help" -f -a "show" -d 'Print a recipe, for example as the start of your own file'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and not __fish_seen_subcommand_from list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from help" -f -a "list" -d 'List all recipes and their questions'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print a recipe, for example as the start of your own file'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand report" -l json -d 'Print the whole result as JSON instead of tables'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand report" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l interleave -d 'Measure two variants in alternating blocks, and compare B with A. Each variant is one quoted text with the arguments of `ddsmark run`, or `characterize` and the arguments of `ddsmark characterize`' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l blocks -d 'Number of blocks, in each of which all cells of both variants are measured. By default as in the variants' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l precision -d 'Target precision instead of a number of blocks: half the width of the 95 % CI, such as `2%`' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l budget -d 'Maximum duration of the whole measurement, such as `10min`' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l out -d 'Directory for the result, new or empty. By default `results/NAME-TIME`' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l factor -d 'Factor in which the two may differ, such as `driver`, `size`, `qos.reliability`, `design.pin` or `env.net.core.rmem_max`; or a group, such as `qos` or `env`. Can be repeated' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l metric -d 'Metric to compare. Can be repeated. By default p50 and p99 of the latency (RTT, or response time under load), goodput of throughput, and the rates that a search found' -r -f -a "p50\t''
p90\t''
p99\t''
p99.9\t''
response-p50\t''
response-p90\t''
response-p99\t''
response-p99.9\t''
service-p50\t''
service-p99\t''
send-lag-p99\t''
delivered\t''
goodput\t''
ndr\t''
pdr\t''
slo\t''
cpu-writer\t''
cpu-reader\t''"
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l fail-if -d 'Exit with status 1 if this change is significant, with 4 if the runs are inconclusive: `p99 > +5%`, `goodput < -5%`. Can be repeated' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l dry-run -d 'Print the plan without measuring'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l allow-inconclusive -d 'Exit with status 0 if a criterion is inconclusive'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l force -d 'Compare results that differ in more than the named factors. The output says so'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l json -d 'Print the comparison as JSON'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "list" -d 'List the installed drivers, and those that can be installed'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "versions" -d 'List the versions of a driver\'s middleware that can be fetched, the default first'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "install" -d 'Build a driver from its sources against a version of its middleware, and install it'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "info" -d 'Show the description of a driver: transports, options, and support of each policy'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "check" -d 'Check a driver against the contract, case by case'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from versions" -l sources -d 'Directory with the sources of drivers, one folder each. By default `$DDSMARK_DRIVER_SOURCES`, else the source tree that contains this program or that it was built from' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from versions" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -l prefix -d 'Build against the middleware in this directory, such as a ROS 2 installation, and fetch nothing. The library determines the driver\'s version' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -l sources -d 'Directory with the sources of drivers, one folder each. By default `$DDSMARK_DRIVER_SOURCES`, else the source tree that contains this program or that it was built from' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -l limit -d 'Time limit of each step: to fetch, and to build' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -l accept-licence -d 'Accept the licence of the middleware, if it requires that. `ddsmark drivers versions` shows it'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -l transport -d 'Transport to use. By default the first one of the driver' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -l option -d 'Set an option of the driver. Can be repeated' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -l case -d 'Check only this case. Can be repeated' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -l limit -d 'Time limit of each case' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -l jobs -d 'Number of cases to execute at the same time. Most of them wait, so four at a time take about a quarter of the time, but on a busy host a case may fail because it was disturbed' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the installed drivers, and those that can be installed'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "versions" -d 'List the versions of a driver\'s middleware that can be fetched, the default first'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "install" -d 'Build a driver from its sources against a version of its middleware, and install it'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "info" -d 'Show the description of a driver: transports, options, and support of each policy'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check a driver against the contract, case by case'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -f -a "completions" -d 'Print completions for a shell'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -f -a "man" -d 'Write man pages to a directory'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -f -a "reference" -d 'Print the reference of the command line in Markdown'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from completions" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from man" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from reference" -l width -d 'Width of the help text in columns' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from reference" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "completions" -d 'Print completions for a shell'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "man" -d 'Write man pages to a directory'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "reference" -d 'Print the reference of the command line in Markdown'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "characterize" -d 'Measure latency and throughput over sample sizes, with and without batching'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "run" -d 'Measure an experiment file or a recipe'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "selftest" -d 'Determine the noise floor of this host: measure the same configuration twice in every block'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "recipes" -d 'Show the recipes: experiment files that come with ddsmark'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "report" -d 'Print the tables of a result'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "compare" -d 'Compare two results, two cells of one result, or two variants that are measured now'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "drivers" -d 'Show, install and check drivers'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "generate" -d 'Generate completions, man pages and the reference of this command'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from recipes" -f -a "list" -d 'List all recipes and their questions'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from recipes" -f -a "show" -d 'Print a recipe, for example as the start of your own file'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "list" -d 'List the installed drivers, and those that can be installed'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "versions" -d 'List the versions of a driver\'s middleware that can be fetched, the default first'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "install" -d 'Build a driver from its sources against a version of its middleware, and install it'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "info" -d 'Show the description of a driver: transports, options, and support of each policy'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "check" -d 'Check a driver against the contract, case by case'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "completions" -d 'Print completions for a shell'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "man" -d 'Write man pages to a directory'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "reference" -d 'Print the reference of the command line in Markdown'
