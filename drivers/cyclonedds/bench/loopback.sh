# SPDX-License-Identifier: Apache-2.0
# Sourced by what runs ddsperf: where its processes meet, and the sizes and the receive buffer that ddsmark asks for. The first word,
# if it is not empty, replaces the sizes.
export CYCLONEDDS_URI="<General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>
<AllowMulticast>false</AllowMulticast>
${1:-<MaxMessageSize>65500 B</MaxMessageSize><FragmentSize>65000 B</FragmentSize>}</General><Discovery><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>99</MaxAutoParticipantIndex><Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>
<Internal><SocketReceiveBufferSize min=\"default\" max=\"8388608 B\"/></Internal>"
