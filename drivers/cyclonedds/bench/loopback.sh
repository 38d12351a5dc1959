# SPDX-License-Identifier: Apache-2.0
# Sourced by what runs ddsperf: where its processes meet, and the receive buffer that ddsmark asks for. The first word, if
# there is one, goes under General.
export CYCLONEDDS_URI="<General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>
<AllowMulticast>false</AllowMulticast>${1:-}</General><Discovery><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>99</MaxAutoParticipantIndex><Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>
<Internal><SocketReceiveBufferSize min=\"default\" max=\"8388608 B\"/></Internal>"
