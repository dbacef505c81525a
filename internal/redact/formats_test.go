package redact

import (
	"strings"
	"testing"
)

// madeUp returns n characters of an alphabet that look random and are the same
// in every run. No secret stands in this file, so that no scanner takes it for
// a leak.
func madeUp(alphabet string, n int) string {
	var b strings.Builder
	for x := uint32(len(alphabet) + 7*n); b.Len() < n; {
		x = x*1664525 + 1013904223
		b.WriteByte(alphabet[int(x>>16)%len(alphabet)])
	}
	return b.String()
}

const (
	digits = "0123456789"
	hexa   = digits + "abcdef"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphas = digits + lower + upper
)

func hexed(n int) string   { return madeUp(hexa, n) }
func word(n int) string    { return "a7" + madeUp(alphas, n-2) }
func capital(n int) string { return "7" + madeUp(digits+upper, n-1) }

// format is a line with a secret in the place of each §.
type format struct{ line, secret string }

func keyBlock(label, eol string) string {
	body := ""
	for range 4 {
		body += madeUp(alphas+"+/", 64) + eol
	}
	return "-----BEGIN " + label + "PRIVATE " + "KEY-----" + eol + body + "-----END " + label + "PRIVATE " + "KEY-----"
}

func formats() []format {
	pw := "Vmubcip" + "RglXZa6"
	object := func(n int) string { return "ey" + "J" + word(n) }
	return []format{
		// Options of commands.
		{"tool --password § --host x", pw},
		{"tool --password=§ --host x", pw},
		{"tool --password '§' x", "correct horse battery"},
		{`tool --password "§" x`, pw},
		{"tool --password §", "swordfish"},
		{"tool -password § run", pw},
		{"gh --token § repo list", word(30)},
		{"gh --token=§", word(30)},
		{"tool --api-key § x", word(24)},
		{"tool --client-secret § x", word(24)},
		{"tool --secret-key=§", word(24)},
		{"gpg --batch --passphrase § -d x", pw},
		{"az login -u me -p § --tenant x", pw},
		{"docker login -u ci -p § registry.example.com", pw},
		{"docker login --username ci --password § registry.example.com", pw},
		{"podman login -p § -u ci quay.io", pw},
		{"helm registry login -u ci -p § x.io", pw},
		{"sshpass -p § ssh deploy@192.0.2.1 uptime", pw},
		{"sshpass -p§ ssh h", pw},
		{"sshpass -p '§' ssh h", "p4ss w0rd!"},
		{"curl -u admin:§ https://api.example.com", pw},
		{"curl -uadmin:§ https://api.example.com", pw},
		{"curl -sSfu 'admin:§' https://api.example.com", pw},
		{"curl --user admin:§ https://api.example.com", pw},
		{"curl -x http://p:8080 --proxy-user admin:§ https://a.example", pw},
		{"curl -X POST -d '{\"a\": 1; 2}' -u \"admin:§\" https://a.example", pw},
		{"curl https://a.example \\\n  -u admin:§", pw},
		{"curl -b '§' https://a.example", "session=" + word(24)},
		{"curl --oauth2-bearer § https://a.example", word(24)},
		{"http -a admin:§ https://a.example", pw},
		{"mysql -u root -p§ app", pw},
		{"mysql -p§ app", "Mysql0Secret"},
		{"mysqldump -h db -uroot -p§ app > x.sql", pw},
		{"mysql --password=§ app", pw},
		{"mariadb -p'§' app", pw},
		{"7z a -p§ x.7z dir", pw},
		{"unzip -P § x.zip", pw},
		{"redis-cli -h cache -a § ping", pw},
		{"mongosh -u me -p § mongodb.example", pw},
		{"ldapsearch -x -D cn=admin -w § -b dc=x", pw},
		{"smbclient //h/share -U me%§", pw},
		{"sqlcmd -S db -U sa -P § -Q x", pw},
		{"openssl rsa -in k.pem -passin pass:§ -out x", pw},
		{"keytool -list -storepass § -keystore x", pw},
		{"plink -pw § me@host", pw},
		{`["tool", "--password", "§", "--host"]`, pw},
		{`{"command": "tool --password \"§\" --host x"}`, pw},
		{"aws configure set aws_secret_access_key §", madeUp(alphas+"/+", 40)},
		{"npm config set //registry.npmjs.org/:_authToken §", word(36)},
		{"docker login -u ci -p§ registry.example.com", pw},
		{"twine upload -u me -p § dist/*", pw},
		{"redis-cli -h cache AUTH §", pw},
		{"set -gx API_TOKEN §", word(20)},
		{"ENV DB_PASSWORD §", pw},
		{"nmcli dev wifi connect x password §", pw},
		{"the password is § now", pw},
		{"sqlplus scott/§@db", pw},
		{"jdbc:oracle:thin:scott/§@db:1521:x", pw},
		{"DB_PASSWORD = §", "Hunter22"},
		// Headers.
		{"Authorization: Basic §", "YWRtaW46" + "aHVudGVyMmh1bnRlcg=="},
		{"Authorization: Bearer §", word(40)},
		{"Authorization: token §", hexed(40)},
		{"authorization: ApiKey §", word(30)},
		{"Authorization: §", hexed(40)},
		{"curl -H 'Authorization: Digest §' https://a.example", `username="ann", realm="x", nonce="` + hexed(32) + `", response="` + hexed(32) + `"`},
		{"Authorization: AWS4-HMAC-SHA256 §", "Credential=AKI" + "A" + capital(16) + "/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=" + hexed(64)},
		{"Proxy-Authorization: Basic §", "YWRtaW46" + "aHVudGVyMg=="},
		{`headers = {"Authorization": "Bearer §"}`, word(40)},
		{`-H "authorization: bearer §"`, word(40)},
		{"curl -H 'X-Api-Key: §' https://a.example", word(20)},
		{"X-Auth-Token: §", word(24)},
		{"PRIVATE-TOKEN: §", word(20)},
		{"X-Vault-Token: §", word(26)},
		{"Ocp-Apim-Subscription-Key: §", hexed(32)},
		{"Cookie: §", "session=" + word(20) + "; csrftoken=" + word(20)},
		{"Set-Cookie: §", "sid=" + word(20) + "; Path=/; Secure"},
		{`-H "Cookie: §" https://a.example`, "session=" + word(20)},
		// URLs.
		{"git clone https://ann:§@github.com/x/y", pw},
		{"git clone https://§@github.com/x/y", hexed(40)},
		{"https://x-access-token:§@github.com/x/y.git", word(36)},
		{"https://§:x-oauth-basic@github.com/x/y.git", hexed(40)},
		{"postgres://app:§@db.local:5432/app", "pa/ss#w0rd"},
		{"mongodb+srv://app:§@cluster0.example.net/db", pw},
		{"redis://:§@localhost:6379/0", pw},
		{"amqp://guest:§@mq:5672/%2f", pw},
		{"https://hooks.slack.com/services/§", "T0000" + "0000/B0000" + "0000/" + word(24)},
		{"https://discord.com/api/webhooks/§", madeUp(digits, 18) + "/" + word(68)},
		{"https://acme.webhook.office.com/webhookb2/§", hexed(8) + "-" + hexed(4) + "@" + hexed(12) + "/IncomingWebhook/" + hexed(32)},
		{"https://hooks.zapier.com/hooks/catch/§", madeUp(digits, 7) + "/" + word(14)},
		{"https://acct.blob.core.windows.net/c/b?sv=2024-01-01&se=2026-01-01&sig=§", madeUp(alphas, 40) + "%2B" + word(6) + "%3D"},
		{"https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=§", hexed(64)},
		{"https://storage.googleapis.com/b/o?X-Goog-Signature=§", hexed(64)},
		{"GET /v1?access_token=§&limit=5", word(30)},
		{"GET /v1?limit=5&token=§", word(20)},
		{"https://maps.example.com/api?key=§&q=x", word(30)},
		{"https://a.example/cb?code=§&state=x", word(30)},
		{"https://a.example/login?next=https%3A%2F%2Fu%3A§%40b.example%2F", pw},
		{"https://a.example/login?next=%2Fx%3Ftoken%3D§%26a%3Db", word(20)},
		{"https://a.example/x#access_token=§&token_type=bearer", word(30)},
		// Assignments.
		{"DB_PASS=§", pw},
		{"export MYSQL_PWD=§", pw},
		{"PGPASSWORD=§ psql -h db", pw},
		{"export FOO_TOKEN=§", word(20)},
		{"FOO_SECRET='§'", "with some blanks"},
		{"aws_secret_access_key = §", madeUp(alphas+"/+", 40)},
		{"AWS_SESSION_TOKEN=§", madeUp(alphas+"/+", 120) + "=="},
		{"STRIPE_KEY=§", word(24)},
		{"SECRET_KEY=§", "django-insecure-x(8" + word(12) + "&" + word(8)},
		{"SECRET_KEY = '§'", "django-insecure-x(8" + word(12) + "&" + word(8)},
		{`"client_secret": "§"`, word(24)},
		{`{"password":"§"}`, `a\"b` + pw},
		{`"{\"password\":\"§\"}"`, pw},
		{"password: §", pw},
		{"  password: §", "hunter2"},
		{"  - password: §  # staging", "hunter2"},
		{"spring.datasource.password=§", pw},
		{"password = \"§\"", pw},
		{"const password: string = '§';", pw},
		{"os.environ[\"DB_PASSWORD\"] = \"§\"", pw},
		{"$config['password'] = '§';", pw},
		{"'password' => '§',", pw},
		{"password := \"§\"", pw},
		{"if password == \"§\" {", pw},
		{"<password>§</password>", pw},
		{`<add key="Password" value="§" />`, pw},
		{"- name: DB_PASSWORD\n  value: \"§\"", pw},
		{"docker run -e POSTGRES_PASSWORD=§ postgres", pw},
		{"helm install x --set db.password=§", pw},
		{"//registry.npmjs.org/:_authToken=§", word(36)},
		{`"auth": "§"`, "YWRtaW46aHVudGVy" + "Mmh1bnRlcg=="},
		{"password: |\n  §", pw},
		{"CREATE USER ann WITH PASSWORD '§';", pw},
		{"CREATE USER ann IDENTIFIED BY '§';", pw},
		{"requirepass=§", pw},
		// Files of their own and connection strings.
		{"machine api.example.com login ann password §", pw},
		{"machine api.example.com\n  login ann\n  password §", "swordfish"},
		{"db.local:5432:app:ann:§", pw},
		{"*:*:*:ann:§", pw},
		{"jdbc:postgresql://db/app?user=ann&password=§&ssl=true", pw},
		{"jdbc:sqlserver://db;user=sa;password=§;encrypt=true", pw},
		{"Server=db;User Id=sa;Password=§;Encrypt=True", "p@ss w0rd(1"},
		{"host=db user=ann password=§ dbname=app", pw},
		{"ann:§@tcp(db:3306)/app", pw},
		{"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=§;EndpointSuffix=core.windows.net", madeUp(alphas+"/+", 86) + "=="},
		{"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=§", madeUp(alphas+"/+", 43) + "="},
		// Private keys and signed tokens.
		{"cat id\n§\nnext", keyBlock("OPENSSH ", "\n")},
		{"§", keyBlock("RSA ", "\n")},
		{`{"private_key": "§"}`, keyBlock("", `\n`) + `\n`},
		{`{"body": "§\n"}`, keyBlock("", `\n`)},
		{"§", keyBlock("EC ", "\n")[:150]},
		{"§", keyBlock("", "\n")[100:]},
		{"§", strings.ReplaceAll(keyBlock("PGP ", "\n"), "KEY-", "KEY BLOCK-")},
		{"+§\n", strings.ReplaceAll(keyBlock("", "\n"), "\n", "\n+")},
		{"got § back", object(30) + "." + object(60) + "." + word(43)},
		{"got § cut", object(30) + "." + object(60)},
		{"session=§;", object(20) + "." + word(6) + "." + word(27)},
		// Issuers.
		{"id § x", "AK" + "IA" + capital(16)},
		{"id § x", "AS" + "IA" + capital(16)},
		{"use § here", "gh" + "p_" + word(36)},
		{"use § here", "gh" + "o_" + word(36)},
		{"use § here", "gh" + "s_" + word(36)},
		{"use § here", "github" + "_pat_" + word(22) + "_" + word(59)},
		{"use § here", "gl" + "pat-" + word(20)},
		{"use § here", "gl" + "rt-" + word(20)},
		{"use § here", "xo" + "xb-" + madeUp(digits, 12) + "-" + word(24)},
		{"use § here", "xo" + "xp-" + madeUp(digits, 12) + "-" + hexed(32)},
		{"use § here", "xa" + "pp-1-" + capital(11) + "-" + hexed(64)},
		{"use § here", "sk" + "_live_" + word(24)},
		{"use § here", "rk" + "_live_" + word(24)},
		{"use § here", "wh" + "sec_" + word(32)},
		{"use § here", "SK" + hexed(32)},
		{"use § here", "SG" + "." + word(22) + "." + word(43)},
		{"use § here", "key" + "-" + hexed(32)},
		{"use § here", "np" + "m_" + word(36)},
		{"use § here", "py" + "pi-AgEIcHlwaS5vcmc" + word(60)},
		{"use § here", "sk" + "-" + word(48)},
		{"use § here", "sk" + "-proj-" + word(60) + "_" + word(20)},
		{"use § here", "sk" + "-ant-api03-" + word(60) + "-" + word(20)},
		{"use § here", "hf" + "_" + word(34)},
		{"use § here", "dop" + "_v1_" + hexed(64)},
		{"use § here", "HR" + "KU-AA" + word(58)},
		{"use § here", "shp" + "at_" + hexed(32)},
		{"use § here", "sq0" + "atp-" + word(22)},
		{"bot 123456789:§", "AA" + word(33)},
		{"https://api.telegram.org/bot123456789:§/getMe", "AA" + word(33)},
		{"use § here", "M" + word(23) + "." + word(6) + "." + word(27)},
		{"use § here", "lin" + "_api_" + word(40)},
		{"use § here", "nt" + "n_" + madeUp(digits, 11) + word(35)},
		{"use § here", "sec" + "ret_" + word(43)},
		{"use § here", "fi" + "gd_" + word(40)},
		{"DD_API_KEY=§", hexed(32)},
		{"use § here", "NR" + "AK-" + capital(27)},
		{"use § here", "snt" + "rys_" + word(60)},
		{"use § here", "gl" + "sa_" + word(32) + "_" + hexed(8)},
		{"use § here", "AT" + "ATT3" + word(100)},
		{"use § here", "AT" + "BB" + word(32)},
		{"use § here", "sl" + ".B" + word(130)},
		{"CLOUDFLARE_API_TOKEN=§", word(40)},
		{"use § here", "v1" + ".0-" + hexed(24) + "-" + hexed(146)},
		{"use § here", "hv" + "s." + word(90)},
		{"use § here", word(14) + ".atlas" + "v1." + word(64)},
		{"use § here", "dc" + "kr_pat_" + word(27)},
		{"use § here", "pu" + "l-" + hexed(40)},
		{"use § here", "da" + "pi" + hexed(32)},
		{"use § here", "ps" + "cale_tkn_" + word(43)},
		{"use § here", "sb" + "p_" + hexed(40)},
		{"FlyV1 §", "fm" + "2_" + word(100)},
		{"use § here", "fo" + "1_" + word(43)},
		{"use § here", "dp" + ".pt." + word(43)},
		{"use § here", "AGE" + "-SECRET-KEY-1" + capital(58)},
		{"use § here", "op" + "s_eyJ" + word(250)},
		{"use § here", "PM" + "AK-" + hexed(24) + "-" + hexed(34)},
		{"use § here", "AI" + "za" + word(35)},
		{"use § here", "ya" + "29." + word(60)},
		{"use § here", "GO" + "CSPX-" + word(28)},
		{"HEROKU_API_KEY=§", hexed(8) + "-" + hexed(4) + "-" + hexed(4) + "-" + hexed(4) + "-" + hexed(12)},
		{"TWILIO_AUTH_TOKEN=§", hexed(32)},
		{"use § here", "ts" + "key-auth-" + word(12) + "-" + word(24)},
		{"use § here", "gs" + "k_" + word(52)},
		// Escapes before the secret.
		{`{"out":"a\n§\nb"}`, "gh" + "p_" + word(36)},
		{"https://a.example/?q=a%20§", "gh" + "p_" + word(36)},
		{`{"out":"\u001b[31m§\u001b[0m"}`, "sk" + "_live_" + word(24)},
	}
}

// Every format is caught whole, counted once, and what is around it stays.
func TestFormats(t *testing.T) {
	t.Parallel()
	all, caught := formats(), 0
	for _, f := range all {
		line := strings.ReplaceAll(f.line, "§", f.secret)
		got := Text(line)
		if got != strings.ReplaceAll(f.line, "§", markOpen+kindOf(got)+"]") || Text(got) != got || Count(got) != 1 {
			t.Errorf("%q\n\t became %q", line, got)
			continue
		}
		caught++
	}
	t.Logf("caught %d of %d formats (%d %%)", caught, len(all), 100*caught/len(all))
	if len(all) < 120 || caught < len(all) {
		t.Errorf("caught %d of %d formats", caught, len(all))
	}
}

// kindOf returns what the first mark in s says was taken out.
func kindOf(s string) string {
	_, rest, _ := strings.Cut(s, markOpen)
	kind, _, _ := strings.Cut(rest, "]")
	return kind
}
